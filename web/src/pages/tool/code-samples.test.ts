import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { quote, shell, variableOf, writeSample } from './code-samples.ts';

/** Everything that has a meaning in a shell, in JavaScript or in Python. */
const hostile = [
  "it's",
  'a "b" \\ c\\',
  '\\"',
  "\\'",
  '$(touch x) `id` $HOME ${IFS}',
  '; rm -rf / && echo | tee > x # ! * ? [a] {b,c} ~',
  '-rf',
  '@/etc/passwd',
  '<file',
  'line one\nline two\ttab',
  '\u2028 </script> %s {0} Łódź 😀',
  '',
];

const run = { origin: 'https://files.example.com', slug: 'image-compressor', files: ['a.jpg'], fields: [] };

describe('quoting', () => {
  test.each(hostile)('a shell reads %j as it is', (text) => {
    expect(execFileSync('/bin/sh', ['-c', `printf '%s' ${shell(text)}`], { encoding: 'utf8' })).toBe(text);
  });

  test.each(hostile)('JavaScript reads %j as it is', (text) => {
    // oxlint-disable-next-line no-eval, typescript/no-implied-eval -- the literal has to be read by the language itself
    expect(new Function(`return ${quote(text)}`)()).toBe(text);
  });

  test('JSON strings of Python are those of JSON', () => {
    const code = writeSample('python', {
      ...run,
      fields: hostile.map((value) => ({ name: 'x', value, secret: false })),
    });
    for (const text of hostile) expect(code).toContain(`("x", (None, ${JSON.stringify(text)})),`);
  });

  test('curl reads quoted names with its own escapes', () => {
    const code = writeSample('curl', { ...run, files: ['a "b";c,\\d.jpg', '-'] });
    expect(code).toContain(String.raw`--form 'files[]=@"./a \"b\";c,\\d.jpg"'`);
    expect(code).toContain(`--form 'files[]=@"./-"'`);
  });
});

describe('a secret setting', () => {
  const secret = { ...run, fields: [{ name: 'password', value: "p'ss", secret: true }] };

  test.each(['curl', 'typescript', 'python', 'cli'] as const)('is not in the %s', (language) => {
    const code = writeSample(language, secret);
    expect(code).not.toContain("p'ss");
    expect(code).toContain('MILLRUN_PASSWORD');
  });

  test('has a variable that a shell can name', () => {
    expect(variableOf('owner-password 2')).toBe('MILLRUN_OWNER_PASSWORD_2');
  });
});

test('files keep their order, settings come first', () => {
  const code = writeSample('curl', {
    ...run,
    files: ['b.jpg', 'a.jpg'],
    fields: [{ name: 'quality', value: '60', secret: false }],
  });
  expect([...code.matchAll(/--form\S* ([^\s)]+)/g)].map(([, part]) => part)).toEqual([
    'quality=60',
    `'files[]=@"./b.jpg"'`,
    `'files[]=@"./a.jpg"'`,
  ]);
});
