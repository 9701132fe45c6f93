import { Anchor, Button, Stack, Table, Text, Title } from '@mantine/core';
import type { UsageOfDay } from '@millrun/sdk';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { formatBytes, formatDuration, formatNumber } from '../../parts/format.ts';
import { useToolName } from '../../parts/tools-query.ts';
import { byTool, formatShare, successShare, type ToolTotals } from './usage-data.ts';
import classes from './usage.module.css';

const shownAtFirst = 10;

/** What each tool came to, the busiest first. */
export function ToolsTable({ rows }: { rows: readonly UsageOfDay[] }) {
  const [all, setAll] = useState(false);
  const tools = useMemo(() => byTool(rows), [rows]);
  const shown = all ? tools : tools.slice(0, shownAtFirst);
  return (
    <Stack gap="sm" mt="sm">
      <Title order={3} size="h5" id="tools-title">
        By tool
      </Title>
      <div className={classes['frame']}>
        <Table className={classes['numbers'] ?? ''} verticalSpacing="sm" aria-labelledby="tools-title">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Tool</Table.Th>
              <Table.Th scope="col">Runs</Table.Th>
              {['Succeeded', 'Mean time', 'In', 'Out'].map((name) => (
                <Table.Th scope="col" key={name} visibleFrom="sm">
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((totals) => (
              <ToolRow key={totals.tool} totals={totals} />
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {tools.length > shownAtFirst && (
        <Button variant="subtle" size="xs" onClick={() => setAll(!all)} style={{ alignSelf: 'flex-start' }}>
          {all ? 'Show the busiest only' : `Show all ${tools.length} tools`}
        </Button>
      )}
    </Stack>
  );
}

/** On a narrow page what has no column stands below the name. */
function ToolRow({ totals }: { totals: ToolTotals }) {
  const toolName = useToolName();
  const { tool, runs, bytesIn, bytesOut, processingMs } = totals;
  const share = formatShare(successShare(totals));
  const mean = formatDuration(processingMs / runs);
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        <Anchor component={Link} href={`/tools/${tool}`} size="sm">
          {toolName(tool)}
        </Anchor>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {share} succeeded, {mean} each, {formatBytes(bytesIn)} in, {formatBytes(bytesOut)} out
        </Text>
      </Table.Th>
      <Table.Td>{formatNumber(runs)}</Table.Td>
      {[share, mean, formatBytes(bytesIn), formatBytes(bytesOut)].map((value, column) => (
        <Table.Td key={column} visibleFrom="sm">
          {value}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
