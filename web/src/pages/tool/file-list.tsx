import { ActionIcon, Button, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { FileIcon } from '../../parts/file-icon.tsx';
import { kindOf } from '../../parts/file-kind.ts';
import { formatBytes } from '../../parts/format.ts';
import { useObjectUrl } from '../../parts/outputs/use-object-url.ts';
import { sayFiles, type FileVerdict, type PickedFile } from './file-rules.ts';
import classes from './tool.module.css';

/** Larger images take a browser too long to decode for a thumbnail. */
const largestThumbnail = 30_000_000;

interface FileListProps {
  files: readonly PickedFile[];
  /** Errors of the service first, else what the page thinks. */
  verdictOf: (file: PickedFile) => FileVerdict | undefined;
  onChange: (files: readonly PickedFile[]) => void;
}

/** The files that will be sent, in their order. */
export function FileList({ files, verdictOf, onChange }: FileListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [said, setSaid] = useState('');
  const [refocus, setRefocus] = useState<{ id: string; by: 'up' | 'down' }>();
  // A row that is moved in the page loses the focus.
  useEffect(() => {
    if (refocus === undefined) return;
    const row = list.current?.querySelector(`[data-file="${refocus.id}"]`);
    const buttons = row?.querySelectorAll<HTMLButtonElement>('[data-move]:not([data-disabled])') ?? [];
    const wanted = [...buttons].find(({ dataset }) => dataset['move'] === refocus.by) ?? buttons[0];
    wanted?.focus();
  }, [refocus]);

  const move = (index: number, by: 'up' | 'down') => {
    const moved = files[index];
    const target = by === 'up' ? index - 1 : index + 1;
    if (moved === undefined || target < 0 || target >= files.length) return;
    onChange(files.toSpliced(index, 1).toSpliced(target, 0, moved));
    setRefocus({ id: moved.id, by });
    setSaid(`${moved.file.name} is now ${target + 1} of ${files.length}`);
  };
  const remove = (index: number) => {
    onChange(files.toSpliced(index, 1));
    setSaid(`${files[index]?.file.name} removed`);
  };
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {sayFiles(files.length)}, {formatBytes(bytes)}
        </Text>
        {files.length > 1 && (
          <Group gap={4}>
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange(sortByName(files))}>
              Sort by name
            </Button>
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChange([])}>
              Remove all
            </Button>
          </Group>
        )}
      </Group>
      <ul className={classes['files']} ref={list} aria-label="Files to send">
        {files.map((picked, index) => (
          <FileRow
            key={picked.id}
            picked={picked}
            verdict={verdictOf(picked)}
            first={index === 0}
            last={index === files.length - 1}
            onMove={(by) => move(index, by)}
            onRemove={() => remove(index)}
          />
        ))}
      </ul>
      <VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
    </>
  );
}

function sortByName(files: readonly PickedFile[]): PickedFile[] {
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return files.toSorted((a, b) => compare(a.file.name, b.file.name));
}

interface FileRowProps {
  picked: PickedFile;
  verdict: FileVerdict | undefined;
  first: boolean;
  last: boolean;
  onMove: (by: 'up' | 'down') => void;
  onRemove: () => void;
}

function FileRow({ picked: { id, file }, verdict, first, last, onMove, onRemove }: FileRowProps) {
  const isError = verdict?.level === 'error';
  return (
    <li className={classes['file']} data-file={id} {...(isError ? { 'data-problem': '', tabIndex: -1 } : {})}>
      <Thumbnail file={file} />
      <div className={classes['name']}>
        <Text size="sm" fw={500} lineClamp={2} style={{ overflowWrap: 'anywhere' }} title={file.name}>
          {file.name}
        </Text>
        <Text size="xs" c="dimmed">
          {formatBytes(file.size)}
        </Text>
        {verdict !== undefined && (
          <Text size="xs" c={isError ? 'var(--mantine-color-error)' : 'var(--mantine-color-text)'} mt={2}>
            {verdict.text}
          </Text>
        )}
      </div>
      <Group gap={2} wrap="nowrap">
        {!(first && last) && (
          <>
            <MoveButton by="up" name={file.name} disabled={first} onMove={onMove} />
            <MoveButton by="down" name={file.name} disabled={last} onMove={onMove} />
          </>
        )}
        <Tooltip label="Remove">
          <ActionIcon variant="subtle" color="gray" onClick={onRemove} aria-label={`Remove ${file.name}`}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </li>
  );
}

interface MoveButtonProps {
  by: 'up' | 'down';
  name: string;
  disabled: boolean;
  onMove: (by: 'up' | 'down') => void;
}

function MoveButton({ by, name, disabled, onMove }: MoveButtonProps) {
  const Arrow = by === 'up' ? IconChevronUp : IconChevronDown;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className={classes['quiet'] ?? ''}
      disabled={disabled}
      onClick={() => onMove(by)}
      aria-label={`Move ${name} ${by}`}
      data-move={by}
    >
      <Arrow size={16} aria-hidden />
    </ActionIcon>
  );
}

function Thumbnail({ file }: { file: File }) {
  const kind = kindOf({ filename: file.name, mediaType: file.type });
  const [failed, setFailed] = useState(false);
  const shown = kind === 'image' && file.size <= largestThumbnail && !failed ? file : undefined;
  const url = useObjectUrl(shown);
  return (
    <div className={classes['thumbnail']}>
      {url === undefined ? (
        <FileIcon kind={kind} />
      ) : (
        <img src={url} alt="" loading="lazy" decoding="async" onError={() => setFailed(true)} />
      )}
    </div>
  );
}
