import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPlay, IconPlugConnectedX } from '@tabler/icons-react';
import type { Tool, Usage } from '@millrun/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { apiPrefix, call } from '../../api.ts';
import { BackButton } from '../../parts/back-button.tsx';
import { formatBytes, formatDateTime } from '../../parts/format.ts';
import { useLiveRun } from '../../parts/live-run.ts';
import { Page } from '../../parts/page.tsx';
import { isActive } from '../../parts/run-state.ts';
import { CodePanel } from './code-panel.tsx';
import type { SampleRun } from './code-samples.ts';
import { FileDrop } from './file-drop.tsx';
import { FileList } from './file-list.tsx';
import { sayFiles } from './file-rules.ts';
import { RunPanel } from './run-panel.tsx';
import { SettingField } from './setting-field.tsx';
import { exampleOf, isMissing } from './settings.ts';
import { useSubmission, type Phase } from './use-submission.ts';
import { useToolForm, type ToolForm } from './use-tool-form.ts';
import classes from './tool.module.css';

/** As in the style sheet. */
const twoColumns = '(min-width: 75em)';

interface WorkspaceProps {
  tool: Tool;
  /** The settings of a run to begin with. */
  given: Readonly<Record<string, unknown>> | undefined;
  /** Asks whether a tool that was not available is now. */
  onCheckAgain: () => void;
}

/** The form of a tool on the left; what becomes of it, and the same as code, on the right. */
export function Workspace({ tool, given, onCheckAgain }: WorkspaceProps) {
  const { data: usage } = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => call<Usage>('GET', `${apiPrefix}/usage`, undefined, signal),
  });
  const form = useToolForm(tool, usage?.limits, given);
  const submission = useSubmission();
  const { phase } = submission;
  const live = useLiveRun(phase.kind === 'accepted' ? phase.runId : undefined);
  const run = live.query.data;
  const busy = phase.kind === 'uploading' || (phase.kind === 'accepted' && run !== undefined && isActive(run.status));
  const formPlace = useRef<HTMLFormElement>(null);
  const panelPlace = useRef<HTMLDivElement>(null);
  useFocusOnRefusal(form, formPlace);
  useRefusal(phase, form);
  useWarningBeforeLeaving(phase.kind === 'uploading');

  useResultInView(panelPlace, run !== undefined && !isActive(run.status));

  const submit = () => {
    const order = form.check();
    if (order === undefined) return;
    submission.start(order);
    requestAnimationFrame(() => panelPlace.current?.scrollIntoView({ block: 'nearest' }));
  };
  return (
    <Page title={tool.name} lead={tool.description} actions={<BackButton href="/tools">All tools</BackButton>}>
      {!tool.available && <Unavailable tool={tool} onCheckAgain={onCheckAgain} />}
      <div className={classes['columns']}>
        <form
          ref={formPlace}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy && tool.available) submit();
          }}
        >
          <Stack gap="xl">
            {tool.max_files > 0 && <Files tool={tool} form={form} />}
            {form.settings.length > 0 && <Settings form={form} />}
            <Action tool={tool} form={form} usage={usage} busy={busy} again={phase.kind === 'accepted'} />
          </Stack>
        </form>
        <Stack gap="xl">
          {phase.kind !== 'idle' && (
            <div ref={panelPlace} className={classes['panel']}>
              <RunPanel submission={submission} live={live} loose={form.problems.loose} onTryAgain={submit} />
            </div>
          )}
          <CodePanel run={sampleOf(tool, form)} />
        </Stack>
      </div>
    </Page>
  );
}

/** The first thing that is wrong gets the focus, in the order of the page. */
function useFocusOnRefusal({ refusals }: ToolForm, place: React.RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    if (refusals === 0) return;
    const wrong = place.current?.querySelector<HTMLElement>('[data-problem]');
    const input = wrong?.querySelector<HTMLElement>('input:not([hidden]):not([type="hidden"]), textarea, button');
    (wrong?.tabIndex === -1 && wrong.hasAttribute('tabindex') ? wrong : input)?.focus();
  }, [refusals, place]);
}

function useRefusal(phase: Phase, form: ToolForm): void {
  const refuse = useEffectEvent(form.refuse);
  useEffect(() => {
    if (phase.kind === 'refused') refuse(phase.order, phase.error, phase.unreadable);
  }, [phase]);
}

/** In one column the result appears below what is in sight: it is brought up, unless somebody has gone elsewhere. */
function useResultInView(place: React.RefObject<HTMLDivElement | null>, ended: boolean): void {
  useEffect(() => {
    const top = place.current?.getBoundingClientRect().top ?? -1;
    const inSight = top >= 0 && top < window.innerHeight;
    if (ended && inSight && !window.matchMedia(twoColumns).matches) place.current?.scrollIntoView();
  }, [place, ended]);
}

/** An upload ends with the page; a run goes on without it. */
function useWarningBeforeLeaving(active: boolean): void {
  useEffect(() => {
    if (!active) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);
}

function Unavailable({ tool, onCheckAgain }: Pick<WorkspaceProps, 'tool' | 'onCheckAgain'>) {
  return (
    <Alert color="yellow" icon={<IconPlugConnectedX aria-hidden />} title="This tool is not available just now">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{tool.unavailable_reason ?? 'The server did not say why.'}</Text>
        <Button size="xs" variant="default" onClick={onCheckAgain}>
          Check again
        </Button>
      </Stack>
    </Alert>
  );
}

function Files({ tool, form }: { tool: Tool; form: ToolForm }) {
  const { files, problems } = form;
  return (
    <Stack gap="sm" component="section" aria-labelledby="files-title">
      <Title order={2} size="h4" id="files-title">
        {tool.max_files === 1 ? 'File' : 'Files'}
        {tool.min_files === 0 && (
          <Text span c="dimmed" fw={400}>
            {' '}
            (optional)
          </Text>
        )}
      </Title>
      <FileDrop tool={tool} small={files.length > 0} problem={problems.files} onAdd={form.addFiles} />
      {files.length > 0 && <FileList files={files} verdictOf={form.verdictOf} onChange={form.setFiles} />}
    </Stack>
  );
}

function Settings({ form }: { form: ToolForm }) {
  return (
    <Stack gap="md" component="section" aria-labelledby="settings-title">
      <Group justify="space-between">
        <Title order={2} size="h4" id="settings-title">
          Settings
        </Title>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          className={classes['quiet'] ?? ''}
          disabled={!form.changed}
          onClick={form.reset}
        >
          Reset to defaults
        </Button>
      </Group>
      <div className={classes['settings']}>
        {form.settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            value={form.values[setting.name]}
            files={form.files}
            problem={form.problems.bySetting[setting.name]}
            onChange={(value) => form.setValue(setting.name, value)}
          />
        ))}
      </div>
    </Stack>
  );
}

interface ActionProps {
  tool: Tool;
  form: ToolForm;
  usage: Usage | undefined;
  busy: boolean;
  again: boolean;
}

function Action({ tool, form: { files }, usage, busy, again }: ActionProps) {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <div className={classes['action']}>
      <Button
        type="submit"
        size="md"
        leftSection={<IconPlayerPlay size={18} aria-hidden />}
        loading={busy}
        disabled={!tool.available}
      >
        {again ? 'Run again' : 'Run'}
      </Button>
      <Text size="sm" c="dimmed" flex="1 1 8rem">
        {usage?.runs_remaining === 0
          ? `Today’s runs are used up. There are new ones from ${formatDateTime(usage.resets_at)}.`
          : files.length > 0 && `${sayFiles(files.length)}, ${formatBytes(bytes)}`}
      </Text>
    </div>
  );
}

function sampleOf(tool: Tool, form: ToolForm): SampleRun {
  const secrets = new Set(form.settings.filter(({ secret }) => secret).map(({ name }) => name));
  // What has to be set is in the program even before it is in the form: it can be run as it stands.
  const missing = form.settings
    .filter((setting) => isMissing(setting, form.values))
    .map((setting): [string, string] => [setting.name, exampleOf(setting)]);
  const names = form.files.map(({ file }) => file.name);
  return {
    origin: window.location.origin,
    slug: tool.slug,
    files: names.length > 0 ? names : exampleNames(tool),
    fields: [...form.fields(), ...missing].map(([name, value]) => ({ name, value, secret: secrets.has(name) })),
  };
}

/** As many files as the tool needs, until there are real ones. */
function exampleNames({ accepts, min_files: count }: Tool): string[] {
  const extension = accepts === 'any' ? 'txt' : (accepts.extensions[0] ?? 'bin');
  return Array.from({ length: count }, (_, index) => `file${count > 1 ? `-${index + 1}` : ''}.${extension}`);
}
