import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { formatBytes, formatNumber } from '../format.ts';
import { PreviewLoading, PreviewMessage } from './preview-message.tsx';
import type { PreviewProps } from './preview.ts';
import type { PreviewKind } from './preview-kind.ts';
import { headBytes, readTextHead, type TextHead } from './read-head.ts';
import { guessDelimiter, readDelimited, readJsonRows, type TableHead } from './tables.ts';
import classes from './preview.module.css';

/** The beginning of a text, as a table where it is one. Whatever it holds, it is shown as characters. */
export function TextPreview({ output, url, kind }: PreviewProps & { kind: PreviewKind }) {
  const { data, error } = useQuery({
    queryKey: ['text-head', output.sha256],
    queryFn: ({ signal }) => readTextHead(url, output.size_bytes, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null) return <PreviewMessage>{error.message}</PreviewMessage>;
  if (data === undefined) return <PreviewLoading />;
  const table = readTable(data, kind, output.media_type);
  return table === undefined ? (
    <Characters head={data} name={output.filename} />
  ) : (
    <Rows table={table} name={output.filename} />
  );
}

function readTable({ text, complete }: TextHead, kind: PreviewKind, mediaType: string): TableHead | undefined {
  if (kind === 'json') return readJsonRows(text);
  if (kind !== 'csv') return undefined;
  return readDelimited(text, mediaType.includes('tab-separated') ? '\t' : guessDelimiter(text), complete);
}

function Characters({ head: { text, complete }, name }: { head: TextHead; name: string }) {
  return (
    <>
      <pre className={classes['text']} tabIndex={0} role="region" aria-label={`Text of ${name}`}>
        {text}
      </pre>
      {!complete && <Note>The first {formatBytes(headBytes)} are shown.</Note>}
    </>
  );
}

function Rows({ table: { columns, rows, more }, name }: { table: TableHead; name: string }) {
  if (columns.length === 0 && rows.length === 0) return <PreviewMessage>The table has no rows.</PreviewMessage>;
  return (
    <>
      <div className={classes['table']} tabIndex={0} role="region" aria-label={`Table of ${name}`}>
        <Table stickyHeader highlightOnHover withRowBorders verticalSpacing={6} fz="sm">
          {columns.length > 0 && (
            <Table.Thead>
              <Table.Tr>
                {columns.map((column, index) => (
                  // Columns have no other identity: names may repeat.
                  // oxlint-disable-next-line react/no-array-index-key
                  <Table.Th key={index}>{column}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
          )}
          <Table.Tbody>
            {rows.map((row, index) => (
              <Table.Tr key={index}>
                {row.map((cell, column) => (
                  <Table.Td key={column}>{cell}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {more && (
        <Note>
          The first {formatNumber(rows.length)} {rows.length === 1 ? 'row is' : 'rows are'} shown.
        </Note>
      )}
    </>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed" className={classes['note'] ?? ''}>
      {children}
    </Text>
  );
}
