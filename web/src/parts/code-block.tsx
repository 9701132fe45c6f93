import { Box } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';
import classes from './code-block.module.css';

/** Code to read and copy; scrolls within itself, and can be reached by keyboard for that. */
export function CodeBlock({ code, label, onCopied }: { code: string; label: string; onCopied?: () => void }) {
  return (
    <Box className={classes['frame']}>
      <Box className={classes['copy']}>
        <CopyButton value={code} what={label} {...(onCopied === undefined ? {} : { onCopied })} />
      </Box>
      <pre className={classes['code']} tabIndex={0} aria-label={label} role="region">
        <code>{code}</code>
      </pre>
    </Box>
  );
}
