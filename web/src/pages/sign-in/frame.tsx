import { Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { Logo } from '../../parts/logo.tsx';
import classes from './frame.module.css';

interface FrameProps {
  title: string;
  lead?: ReactNode;
  /** Other ways on, below the card. */
  below?: ReactNode;
  children: ReactNode;
}

/** One calm column for those who are not signed in. */
export function Frame({ title, lead, below, children }: FrameProps) {
  useEffect(() => {
    document.title = `${title} · Millrun`;
  }, [title]);
  return (
    <main className={classes['page']}>
      <Stack gap="lg" className={classes['column'] ?? ''}>
        <Logo />
        <Paper withBorder className={classes['card'] ?? ''}>
          <Stack gap="lg">
            <Stack gap={4}>
              <Title order={1} size="h3">
                {title}
              </Title>
              {lead !== undefined && (
                <Text size="sm" c="dimmed" component="div">
                  {lead}
                </Text>
              )}
            </Stack>
            {children}
          </Stack>
        </Paper>
        {below !== undefined && (
          <Text size="sm" c="dimmed" component="div">
            {below}
          </Text>
        )}
      </Stack>
    </main>
  );
}
