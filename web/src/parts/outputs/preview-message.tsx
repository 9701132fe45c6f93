import { Center, Loader, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './preview.module.css';

/** In the place of a preview: why there is none. */
export function PreviewMessage({ icon, children }: { icon?: ReactNode; children: ReactNode }) {
  return (
    <Center mih="8rem" p="md">
      <Stack gap="xs" align="center" ta="center" maw="26rem" c="dimmed">
        {icon}
        <Text size="sm" component="div">
          {children}
        </Text>
      </Stack>
    </Center>
  );
}

/** Keeps the place of a preview that is on its way. */
export function PreviewLoading() {
  return (
    <div className={classes['stage']}>
      <Loader size="sm" role="status" aria-label="Loading the preview" />
    </div>
  );
}
