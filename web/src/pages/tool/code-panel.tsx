import { Anchor, Code, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { CodeBlock } from '../../parts/code-block.tsx';
import { sampleLanguages, variableOf, writeSample, type SampleLanguage, type SampleRun } from './code-samples.ts';
import classes from './tool.module.css';

/** The run of the form as a program, which follows every change of the form. */
export function CodePanel({ run }: { run: SampleRun }) {
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const chosen = sampleLanguages.find(({ id }) => id === language) ?? sampleLanguages[0];
  const secrets = run.fields.filter(({ secret }) => secret);
  return (
    <Stack gap="sm" component="section" aria-labelledby="code-title">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4" id="code-title">
          The same run as code
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          value={language}
          onChange={setLanguage}
          data={sampleLanguages.map(({ id, label }) => ({ value: id, label }))}
        />
      </Group>
      <div className={classes['code']}>
        <CodeBlock code={writeSample(language, run)} label={`${chosen.label} program`} />
      </div>
      <Text size="sm" c="dimmed">
        It reads an{' '}
        <Anchor component={Link} href="/tokens" size="sm" underline="always">
          API token
        </Anchor>{' '}
        from the environment variable <Code>MILLRUN_TOKEN</Code>
        {secrets.map(({ name }) => (
          <span key={name}>
            {' '}
            and <Code>{variableOf(name)}</Code>, which is never written into code
          </span>
        ))}
        .
      </Text>
    </Stack>
  );
}
