import { Paper, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './row-list.module.css';

interface RowListProps {
  label: string;
  /** Widths of the columns on a wide page, as of `grid-template-columns`. */
  columns: string;
  children: ReactNode;
}

/** Things below each other in columns that line up; on a narrow page the parts of one stand below each other. */
export function RowList({ label, columns, children }: RowListProps) {
  return (
    <Paper withBorder>
      <ul className={classes['list']} aria-label={label} style={{ '--columns': columns } as React.CSSProperties}>
        {children}
      </ul>
    </Paper>
  );
}

export function Row({ children, dimmed = false }: { children: ReactNode; dimmed?: boolean }) {
  return (
    <li className={classes['row']} data-dimmed={dimmed || undefined}>
      {children}
    </li>
  );
}

/** A small thing with its name above it. */
export function Cell({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes['cell']}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}

/** The buttons at the end of a row. */
export function RowActions({ children }: { children: ReactNode }) {
  return <div className={classes['actions']}>{children}</div>;
}

/** Keeps the place of a list that is on its way. */
export function RowSkeleton({ rows, height }: { rows: number; height: number }) {
  return (
    <Paper withBorder aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={classes['waiting']} style={{ height }}>
          <Skeleton height={14} width="40%" />
          <Skeleton height={10} width="25%" mt={10} />
        </div>
      ))}
    </Paper>
  );
}
