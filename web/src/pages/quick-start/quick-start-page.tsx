import { Anchor, Button, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconArrowRight, IconKey } from '@tabler/icons-react';
import type { Usage } from '@millrun/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { apiPrefix, call } from '../../api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatBytes, formatLimit, formatNumber } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { languages, type Language } from '../tool/code-samples.ts';
import { refusals } from './refusals.ts';
import { writeSnippets, type Step } from './snippets.ts';
import classes from './quick-start.module.css';

/** From a token to a verified webhook, for this very server, in the language of the reader. */
export default function QuickStartPage() {
  const base = window.location.origin + apiPrefix;
  const [language, setLanguage] = useLocalStorage<Language>({
    key: 'millrun-language',
    defaultValue: 'curl',
    getInitialValueInEffect: false,
  });
  const chosen = languages.find(({ id }) => id === language) ?? languages[0];
  const snippets = writeSnippets(base);
  const code = (step: Step, what: string) => (
    <CodeBlock code={snippets[step][chosen.id]} label={`${what}, ${chosen.label}`} />
  );
  return (
    <Page
      title="Quick start"
      lead="Process a file with a program: a token, three requests, and you have the result."
      actions={
        <Button component="a" href="/docs" variant="default" rightSection={<IconArrowRight size={16} aria-hidden />}>
          API reference
        </Button>
      }
    >
      <div className={classes['bar']}>
        <div className={classes['base']}>
          <Text size="xs" c="dimmed">
            Base URL
          </Text>
          <span className={classes['address']}>
            <code>{base}</code>
            <CopyButton value={base} what="the base URL" />
          </span>
        </div>
        <SegmentedControl
          aria-label="Language"
          value={chosen.id}
          onChange={(value) => setLanguage(value)}
          data={languages.map(({ id, label }) => ({ value: id, label }))}
        />
      </div>
      <div className={classes['steps']}>
        <Section
          id="token"
          title="1. Make a token"
          lead="It stands for your account in every request. It is shown once; keep it out of your code."
        >
          <Stack gap="sm" align="stretch">
            <Group>
              <Button component={Link} href="/tokens" leftSection={<IconKey size={16} aria-hidden />}>
                Make a token
              </Button>
            </Group>
            <CodeBlock code="export MILLRUN_TOKEN=mr_…" label="the environment variable" />
          </Stack>
        </Section>
        <Section
          id="send"
          title="2. Send a file"
          lead={
            <>
              The reply comes at once: 202, with the <Code>id</Code> of the run. Settings are fields beside the files;
              the page of each <In to="/tools">tool</In> writes them for you.
            </>
          }
        >
          {code('send', 'Send a file')}
        </Section>
        <Section
          id="wait"
          title="3. Wait for the end"
          lead={
            <>
              With <Code>wait</Code> the reply comes as soon as the run has ended, or after that many seconds. A run
              ends <Code>done</Code> or <Code>failed</Code>.
            </>
          }
        >
          {code('wait', 'Wait for the end')}
        </Section>
        <Section
          id="download"
          title="4. Download the outputs"
          lead="Each output has an address of its own, which works for an hour and is new with every look at the run."
        >
          {code('download', 'Download the outputs')}
        </Section>
        <Section
          id="follow"
          title="Follow a run live"
          lead="Server-Sent Events: every change as it happens, with the progress. After the last message the server closes."
        >
          {code('follow', 'Follow a run')}
        </Section>
        <Section
          id="webhooks"
          title="Be told by a webhook"
          lead={
            <>
              Register an address here or on the page <In to="/webhooks">Webhooks</In>, where you can also send a test
              and see every delivery. Keep the secret.
            </>
          }
        >
          {code('register', 'Register a webhook')}
        </Section>
        <Section
          id="verify"
          title="Verify a webhook"
          lead="Events are signed by the Standard Webhooks specification, so a library of it is all you need. Answer with 2xx within 15 seconds and do the work afterwards: what fails is sent again for hours."
        >
          {code('verify', 'Verify a webhook')}
        </Section>
        <Section
          id="errors"
          title="Errors"
          lead={
            <>
              Every error has one shape: <Code>code</Code> for programs, <Code>message</Code> for people, and the{' '}
              <Code>request_id</Code> that the log of the server repeats.
            </>
          }
        >
          <Errors />
        </Section>
        <Section
          id="retry"
          title="Try again safely"
          lead={
            <>
              Send the same request with the same <Code>Idempotency-Key</Code> as often as you like: it is one run.
              After 429 and 503 wait as long as <Code>Retry-After</Code> says.
            </>
          }
        >
          {code('retry', 'Try again')}
        </Section>
        <Section
          id="limits"
          title="Limits"
          lead={
            <>
              Those of your plan. <In to="/usage">Usage</In> shows how much is left.
            </>
          }
        >
          <Limits />
        </Section>
      </div>
    </Page>
  );
}

/** A link within a sentence. */
function In({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} href={to} inherit underline="always">
      {children}
    </Anchor>
  );
}

function Errors() {
  return (
    <dl className={classes['errors']}>
      {refusals.map(({ status, meaning, remedy }) => (
        <div key={status}>
          <dt>{status}</dt>
          <dd>
            {meaning} <span className={classes['remedy']}>{remedy}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Limits() {
  const { data } = useQuery({
    queryKey: ['usage'],
    queryFn: ({ signal }) => call<Usage>('GET', `${apiPrefix}/usage`, undefined, signal),
  });
  const { limits } = data ?? {};
  const show = (value: number | undefined, format = formatNumber) =>
    value === undefined ? '…' : formatLimit(value, format);
  const rows = [
    ['Requests a minute', show(data?.api_rate_limit)],
    ['Runs a day (UTC)', show(data?.runs_per_day)],
    ['Runs at the same time', show(limits?.concurrent_runs)],
    ['Size of a file', show(limits?.max_file_bytes, formatBytes)],
    ['Files of a run', show(limits?.max_files)],
    ['All files of a run', show(limits?.max_run_bytes, formatBytes)],
  ] as const;
  return (
    <dl className={classes['limits']}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
