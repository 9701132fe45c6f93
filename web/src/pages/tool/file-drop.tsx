import { Button, Stack, Text, UnstyledButton } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import '@mantine/dropzone/styles.css';
import { IconUpload } from '@tabler/icons-react';
import type { Tool } from '@millrun/sdk';
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { dialogAccept, formatsOf } from './file-rules.ts';
import classes from './tool.module.css';

interface FileDropProps {
  tool: Tool;
  /** There are files already: the place for more is small. */
  small: boolean;
  problem: string | undefined;
  onAdd: (files: readonly File[]) => void;
}

/** Takes files from anywhere: dropped on the page, chosen in a dialog, or pasted. */
export function FileDrop({ tool, small, problem, onAdd }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const problemId = useId();
  usePastedFiles(onAdd);
  const many = tool.max_files > 1;
  const choose = small ? (many ? 'Add files' : 'Choose another file') : many ? 'Choose files' : 'Choose a file';
  const accept = dialogAccept(tool.accepts);
  return (
    <>
      {/* The whole place can be clicked; the button within is what the keyboard and screen readers use. */}
      <div
        className={classes['drop']}
        data-small={small || undefined}
        data-problem={problem === undefined ? undefined : ''}
        onClick={() => input.current?.click()}
      >
        {!small && <IconUpload size={32} stroke={1.5} aria-hidden />}
        <Button
          variant={small ? 'default' : 'light'}
          size={small ? 'xs' : 'sm'}
          aria-describedby={problem === undefined ? undefined : problemId}
          onClick={(event) => {
            event.stopPropagation();
            input.current?.click();
          }}
        >
          {choose}
        </Button>
        <Text size="sm" c="dimmed">
          or drop {many ? 'them' : 'it'} anywhere on this page, or paste
        </Text>
        {!small && <Formats accepts={tool.accepts} />}
      </div>
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" id={problemId}>
          {problem}
        </Text>
      )}
      <input
        ref={input}
        type="file"
        hidden
        multiple={many}
        {...(accept === undefined ? {} : { accept })}
        aria-label={choose}
        onChange={({ currentTarget }) => {
          onAdd([...(currentTarget.files ?? [])]);
          // The same file can be chosen again after it was removed.
          currentTarget.value = '';
        }}
      />
      <Dropzone.FullScreen
        onDrop={onAdd}
        activateOnKeyboard={false}
        inputProps={{ 'aria-label': 'Dropped files', tabIndex: -1 }}
        withinPortal={false}
      >
        {/* There all the time, unseen until something is dragged. */}
        <div className={classes['overlay']} aria-hidden>
          <Stack align="center" gap="xs">
            <IconUpload size={48} stroke={1.4} />
            <Text fz="h3" fw={650}>
              Drop to add to {tool.name}
            </Text>
          </Stack>
        </div>
      </Dropzone.FullScreen>
    </>
  );
}

/** Files on the clipboard are taken wherever the focus is; text goes where it always goes. */
function usePastedFiles(onAdd: (files: readonly File[]) => void): void {
  const add = useEffectEvent(onAdd);
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      add(files);
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);
}

const fewFormats = 9;

function Formats({ accepts }: Pick<Tool, 'accepts'>) {
  const [all, setAll] = useState(false);
  const formats = formatsOf(accepts);
  if (formats.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Any kind of file
      </Text>
    );
  const shown = all || formats.length <= fewFormats + 1 ? formats : formats.slice(0, fewFormats);
  return (
    <Text size="xs" c="dimmed" maw="28rem" component="div">
      {shown.join(', ')}
      {shown.length < formats.length && (
        <>
          {' '}
          <UnstyledButton
            fz="xs"
            td="underline"
            onClick={(event) => {
              event.stopPropagation();
              setAll(true);
            }}
          >
            and {formats.length - shown.length} more
          </UnstyledButton>
        </>
      )}
    </Text>
  );
}
