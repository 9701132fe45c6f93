import { ActionIcon, Badge, Button, Group, Stack, Text, Title, Tooltip, UnstyledButton } from '@mantine/core';
import { IconDownload, IconFileOff, IconFileZip } from '@tabler/icons-react';
import type { Output, Run } from '@millrun/sdk';
import { lazy, Suspense, useMemo, useState } from 'react';
import { localPath } from '../../api.ts';
import { FileIcon } from '../file-icon.tsx';
import { kindOf, type FileKind } from '../file-kind.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { DrawingPreview, ImagePreview } from './image-preview.tsx';
import { AudioPreview, VideoPreview } from './media-preview.tsx';
import { pairWithInputs, sayChange } from './pairing.ts';
import { previewKindOf } from './preview-kind.ts';
import { PreviewLoading, PreviewMessage } from './preview-message.tsx';
import type { PreviewProps } from './preview.ts';
import { TextPreview } from './text-preview.tsx';
import classes from './run-outputs.module.css';

const PdfPreview = lazy(() => import('./pdf-preview.tsx'));

interface RunOutputsProps {
  run: Run;
  /** The files that were sent, in the order of `run.inputs`, where the page still has them: images are compared with them. */
  originals?: readonly File[];
}

interface Shown {
  output: Output;
  kind: FileKind;
  /** Of the input it was made of, where both are of one kind: a text is always smaller than its PDF. */
  bytesBefore: number | undefined;
  /** The image it was made of. */
  original: File | undefined;
}

/** What a run has made: a preview of one file at a time, and all of them to download. */
export function RunOutputs({ run, originals }: RunOutputsProps) {
  const [selected, setSelected] = useState(0);
  const outputs = useMemo(() => pair(run, originals), [run, originals]);
  const shown = outputs[selected] ?? outputs[0];
  if (shown === undefined) return <NoOutputs />;
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {outputs.length === 1 ? 'Result' : `${formatNumber(outputs.length)} results`}
        </Title>
        <DownloadAll run={run} shown={outputs} />
      </Group>
      <div className={classes['outputs']}>
        <div className={classes['preview']} data-several={outputs.length > 1 || undefined}>
          <Preview key={`${run.id}/${outputs.indexOf(shown)}`} shown={shown} />
        </div>
        <ul className={classes['list']} aria-label="Results">
          {outputs.map((entry, index) => (
            <li key={entry.output.filename}>
              <OutputRow
                entry={entry}
                alone={outputs.length === 1}
                active={entry === shown}
                onShow={() => setSelected(index)}
              />
            </li>
          ))}
        </ul>
      </div>
    </Stack>
  );
}

function pair({ outputs = [], inputs }: Run, originals: readonly File[] | undefined): Shown[] {
  const pairs = pairWithInputs(outputs, inputs);
  return outputs.map((output, position) => {
    const kind = kindOf({ filename: output.filename, mediaType: output.media_type });
    const index = pairs[position];
    const input = index === undefined ? undefined : inputs[index];
    const alike = input !== undefined && kindOf({ filename: input.filename, mediaType: '' }) === kind;
    return {
      output,
      kind,
      bytesBefore: alike ? input.size_bytes : undefined,
      original: alike && kind === 'image' && index !== undefined ? originals?.[index] : undefined,
    };
  });
}

function NoOutputs() {
  return (
    <PreviewMessage icon={<IconFileOff size={28} stroke={1.5} aria-hidden />}>
      The files of this run are no longer kept.
    </PreviewMessage>
  );
}

function DownloadAll({ run, shown }: { run: Run; shown: readonly Shown[] }) {
  const { archive_url: archiveUrl } = run;
  if (archiveUrl === undefined || shown.length < 2) return null;
  const bytes = shown.reduce((sum, { output }) => sum + output.size_bytes, 0);
  return (
    <Button
      component="a"
      href={localPath(archiveUrl)}
      download
      size="xs"
      variant="default"
      leftSection={<IconFileZip size={16} aria-hidden />}
    >
      All as ZIP ({formatBytes(bytes)})
    </Button>
  );
}

interface OutputRowProps {
  entry: Shown;
  /** The only output has its preview above anyway. */
  alone: boolean;
  active: boolean;
  onShow: () => void;
}

function OutputRow({ entry, alone, active, onShow }: OutputRowProps) {
  const { output } = entry;
  const what = <What entry={entry} />;
  return (
    <div className={classes['row']} data-shown={(active && !alone) || undefined}>
      {alone ? (
        <div className={classes['what']}>{what}</div>
      ) : (
        <UnstyledButton className={classes['what'] ?? ''} onClick={onShow} aria-pressed={active}>
          {what}
        </UnstyledButton>
      )}
      {alone ? (
        <Button
          component="a"
          href={localPath(output.url)}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Download
        </Button>
      ) : (
        <Tooltip label="Download">
          <ActionIcon
            component="a"
            href={localPath(output.url)}
            download
            variant="subtle"
            size="lg"
            aria-label={`Download ${output.filename}`}
          >
            <IconDownload size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}

function What({ entry: { output, kind, bytesBefore } }: { entry: Shown }) {
  const change = bytesBefore === undefined ? undefined : sayChange(bytesBefore, output.size_bytes);
  const smaller = bytesBefore !== undefined && output.size_bytes < bytesBefore;
  return (
    <>
      <FileIcon kind={kind} />
      <span className={classes['name']}>
        <Text
          size="sm"
          component="span"
          fw={500}
          lineClamp={2}
          style={{ overflowWrap: 'anywhere' }}
          title={output.filename}
        >
          {output.filename}
        </Text>
        <Group gap={8} component="span">
          <Text size="xs" c="dimmed" component="span">
            {bytesBefore !== undefined && `${formatBytes(bytesBefore)} → `}
            {formatBytes(output.size_bytes)}
          </Text>
          {change !== undefined && (
            <Badge size="sm" variant="light" tt="none" color={smaller ? 'mill' : 'gray'} component="span">
              {change}
            </Badge>
          )}
        </Group>
      </span>
    </>
  );
}

function Preview({ shown: { output, kind: fileKind, original } }: { shown: Shown }) {
  // A new address for the same bytes is no reason to load them again.
  const [url] = useState(output.url);
  const kind = previewKindOf(output);
  const props: PreviewProps = { output, url, original };
  switch (kind) {
    case 'image':
      return <ImagePreview {...props} />;
    case 'drawing':
      return <DrawingPreview {...props} />;
    case 'pdf':
      return (
        <Suspense fallback={<PreviewLoading />}>
          <PdfPreview {...props} />
        </Suspense>
      );
    case 'audio':
      return <AudioPreview {...props} />;
    case 'video':
      return <VideoPreview {...props} />;
    case 'csv':
    case 'json':
    case 'text':
      return <TextPreview {...props} kind={kind} />;
    case 'none':
      return (
        <PreviewMessage icon={<FileIcon kind={fileKind} size={36} />}>
          There is no preview for this kind of file.
        </PreviewMessage>
      );
  }
}
