import { Table } from '@mantine/core';
import { formatBytes, formatNumber } from '../../parts/format.ts';
import { formatDay, type ChartData } from './usage-data.ts';
import classes from './usage.module.css';

/** The chart as numbers, the newest day first. */
export function DaysTable({ data }: { data: ChartData }) {
  const format = data.view === 'bytes' ? formatBytes : formatNumber;
  const newestFirst = data.days.map((day, index) => ({ day, index })).toReversed();
  const label = data.view === 'bytes' ? 'Bytes by day' : `Runs by day and ${data.view}`;
  return (
    <div className={classes['scroll']} tabIndex={0} role="region" aria-label={label}>
      <Table className={classes['numbers'] ?? ''} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Day (UTC)</Table.Th>
            {data.series.map((series) => (
              <Table.Th scope="col" key={series.key}>
                {series.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {newestFirst.map(({ day, index }) => (
            <Table.Tr key={day}>
              <Table.Th scope="row" fw={400}>
                {formatDay(day)}
              </Table.Th>
              {data.series.map((series) => (
                <Table.Td key={series.key}>{format(series.values[index] ?? 0)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
