import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sample } from '../../../test/fixtures/samples.ts';
import { runTool } from '../../../test/run-tool.ts';
import videoMuter from '../video/video-muter.ts';
import subtitleBurner from './subtitle-burner.ts';
import subtitleConverter from './subtitle-converter.ts';
import subtitleExtractor from './subtitle-extractor.ts';
import subtitleShifter from './subtitle-shifter.ts';

let directory: string;
const at = (name: string) => join(directory, name);
const textOf = (path = '') => readFile(path, 'utf8');

const odd = `1
00:00:00,500 --> 00:00:02,000
{\\an8}<b>Bold &amp; <i>both</b></i> <font color="#ff0000">red</font>

after a blank line

2
00:00:01,000 --> 00:00:01,500
5 < 6 & 7 {curly}

3
-00:00:05,000 --> 00:00:00,100
negative

4
00:00:09,000 --> 00:00:08,000
backwards`;

const russian = '1\r\n00:00:00,500 --> 00:00:01,900\r\nПривет, мир! Это проверка кодировки субтитров.\r\n';

function make(args: readonly string[]): void {
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...args]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  await writeFile(at('odd.srt'), odd);
  await writeFile(at('old.srt'), iconv.encode(russian, 'win1251'));
  await writeFile(at('wide.srt'), iconv.encode(russian, 'utf16le', { addBOM: true }));
  make([
    '-f',
    'lavfi',
    '-i',
    'color=#204080:s=320x240:d=2:r=10',
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    at('blue.mp4'),
  ]);
  const inputs = ['-i', at('blue.mp4'), '-i', sample('srt'), '-i', sample('ass')];
  make([
    ...inputs,
    '-map',
    '0',
    '-map',
    '1',
    '-map',
    '2',
    '-c',
    'copy',
    '-metadata:s:s:0',
    'language=ger',
    at('two.mkv'),
  ]);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const types = ['srt', 'vtt', 'ass', 'sub', 'ttml'] as const;

test.each(['srt', 'vtt', 'ass', 'ttml', 'txt'] as const)('converts every format to %s', async (format) => {
  await using run = await runTool(subtitleConverter, types.map(sample), { format });
  for (const { type, path } of run.outputs) {
    expect(type).toBe(format);
    expect(await textOf(path)).toContain('The wheel turns.');
  }
  if (format === 'txt') return;
  const [first] = run.outputs;
  if (format === 'ttml') execFileSync('xmllint', ['--noout', first?.path ?? '']);
  await using back = await runTool(subtitleConverter, [{ path: first?.path ?? '', filename: `x.${format}` }]);
  expect(await textOf(back.outputs[0]?.path)).toBe(await textOf(sample('srt')));
});

test('keeps look and place, and mends what is odd', async () => {
  await using vtt = await runTool(subtitleConverter, [at('odd.srt')], { format: 'vtt' });
  expect(await textOf(vtt.outputs[0]?.path)).toBe(`WEBVTT

STYLE
::cue(.color-ff0000) { color: #ff0000 }

00:00:00.000 --> 00:00:00.100
negative

00:00:00.500 --> 00:00:02.000 line:5%
<b>Bold &amp; <i>both</i></b> <c.color-ff0000>red</c>
after a blank line

00:00:01.000 --> 00:00:01.500
5 &lt; 6 &amp; 7 {curly}

00:00:09.000 --> 00:00:12.000
backwards
`);
  await using ttml = await runTool(subtitleConverter, [at('odd.srt')], { format: 'ttml' });
  await using back = await runTool(subtitleConverter, [ttml.outputs[0]?.path ?? ''], { format: 'srt' });
  const written = await textOf(back.outputs[0]?.path);
  expect(written).toContain('{\\an8}<b>Bold & <i>both</i></b> <font color="#ff0000">red</font>\nafter a blank line');
});

/** What the converter makes of a text: SubRip with single line ends. */
async function asSrt(name: string, text: string): Promise<string> {
  await writeFile(at(name), text);
  await using run = await runTool(subtitleConverter, [at(name)]);
  return textOf(run.outputs[0]?.path);
}

test('reads a file of line ends by the million as any other', async () => {
  const cue = '1\n00:00:01,000 --> 00:00:02,500\nA\n';
  expect(await asSrt('returns.srt', cue + '\r'.repeat(4_000_000))).toBe(cue);
});

test('reads SubRip as others write it', async () => {
  const usual = '1\n00:00:01,000 --> 00:00:02,500\nA\nB\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n';
  expect(await asSrt('ends.srt', usual.replaceAll('\n', '\r\r\n'))).toBe(usual);
  expect(await asSrt('double.srt', usual.replaceAll('\n', '\n\n'))).toBe(usual);
  expect(await asSrt('spaces.srt', usual.replaceAll(/[:,](?=\d\d)/g, '$& '))).toBe(usual);
  expect(await asSrt('bare.srt', usual.replaceAll(/^\d\n/gm, ''))).toBe(usual);
  expect(await asSrt('short.srt', usual.replaceAll(/,\d{3}/g, ''))).toBe(usual.replace('02,500', '02,000'));
  expect(await asSrt('long.srt', usual.replaceAll(/,(\d{3})/g, '.$1000'))).toBe(usual);
  expect(await asSrt('color.srt', '1\n00:00:01,000 --> 00:00:02,000\n<font color=FF8000>x</font>\n')).toContain(
    '<font color="#ff8000">x</font>',
  );
});

test('names the line of times that cannot be read', async () => {
  await writeFile(at('times.srt'), '1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n00:00:03,000 --> 0\nB\n');
  const refusal = { code: 'invalid_input', message: expect.stringContaining('line 6 has times') as string };
  await expect(runTool(subtitleConverter, [at('times.srt')])).rejects.toMatchObject(refusal);
  await expect(runTool(subtitleShifter, [at('times.srt')], { offset_ms: '5' })).rejects.toMatchObject(refusal);
});

test('reads WebVTT as others write it, with the colours of its styles', async () => {
  const cues = ['00:01.000 --> 00:02.000', 'A', '00:03.000 --> 00:04.000', 'B'];
  const usual = '1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n00:00:03,000 --> 00:00:04,000\nB\n';
  expect(await asSrt('close.vtt', ['WEBVTT', ...cues, ''].join('\n'))).toBe(usual);
  expect(await asSrt('ends.vtt', ['WEBVTT', '', ...cues.slice(0, 2), '', ...cues.slice(2)].join('\r\r\n'))).toBe(usual);
  expect(await asSrt('spaces.vtt', ['WEBVTT\n', ...cues.slice(0, 2), ' ', 'id', ...cues.slice(2)].join('\n'))).toBe(
    usual,
  );
  const styled = `WEBVTT

STYLE
::cue(.loud) { color: rgb(255, 128, 0); font-weight: bold }

NOTE
00:00.000 --> 00:01.000

00:01.000 --> 00:02.000
<c.loud>A</c> <c.lime.bg_blue>B</c>
`;
  const expected = '<font color="#ff8000"><b>A</b></font> <font color="#00ff00">B</font>\n';
  expect(await asSrt('styled.vtt', styled)).toBe(`1\n00:00:01,000 --> 00:00:02,000\n${expected}`);
  await using vtt = await runTool(subtitleConverter, [at('styled.vtt')], { format: 'vtt' });
  await using back = await runTool(subtitleConverter, [vtt.outputs[0]?.path ?? '']);
  expect(await textOf(back.outputs[0]?.path)).toContain(expected);
});

test('reads SubStation Alpha without a line of formats', async () => {
  const text =
    '[Script Info]\nScriptType: v4.00+\n\n[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,A, b\n';
  expect(await asSrt('bare.ass', text)).toBe('1\n00:00:01,000 --> 00:00:02,000\nA, b\n');
});

test('reads TTML as others write it', async () => {
  const source = `<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"
    xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:frameRate="25" ttp:tickRate="10000000"><head><styling>
    <style xml:id="s" tts:fontStyle="italic"/></styling><layout><region xml:id="r" tts:displayAlign="before"/></layout></head>
    <body><div begin="1s"><p begin="10000000t" dur="1500ms" region="r">caf&#233; <span style="s">one</span><br/>
    two</p><p begin="00:00:03:05" end="00:00:04:00">three</p></div></body></tt>`;
  await writeFile(at('studio.ttml'), source);
  await using run = await runTool(subtitleConverter, [at('studio.ttml')]);
  expect(await textOf(run.outputs[0]?.path)).toBe(
    '1\n00:00:02,000 --> 00:00:03,500\n{\\an8}café <i>one</i>\ntwo\n\n2\n00:00:04,200 --> 00:00:05,000\nthree\n',
  );
  await writeFile(at('bad.ttml'), '<tt><p>x</tt>');
  await expect(runTool(subtitleConverter, [at('bad.ttml')])).rejects.toThrow('not well-formed');
});

test('tells Croatian from Western European', async () => {
  const croatian =
    'Đino! Što radiš ovdje? Već sam ti rekao da je možda čekao iza kuće.\nŽeliš li još čaja? Neću, hvala.';
  const french = 'Ça va très bien, mon frère. Où étais-tu hier après-midi ?\nÀ la bibliothèque, près de la rivière.';
  for (const [text, encoding] of [
    [croatian, 'win1250'],
    [french, 'win1252'],
  ] as const) {
    const cues = [1, 2, 3].map((n) => `${n}\r\n00:00:0${n},000 --> 00:00:0${n},900\r\n${text}\r\n\r\n`).join('');
    await writeFile(at('west.srt'), iconv.encode(cues, encoding));
    await using run = await runTool(subtitleConverter, [at('west.srt')]);
    expect(await textOf(run.outputs[0]?.path)).toContain(text);
  }
});

test('finds out encodings and frame rates', async () => {
  await using run = await runTool(subtitleConverter, [at('old.srt'), at('wide.srt')]);
  for (const { path } of run.outputs) expect(await textOf(path)).toContain('Привет, мир!');
  await using slow = await runTool(subtitleConverter, [sample('sub')], { fps: '12.5' });
  expect(await textOf(slow.outputs[0]?.path)).toContain('00:00:00,960 --> 00:00:02,400');
  await expect(runTool(subtitleConverter, [sample('srt')], { fps: '25' })).rejects.toThrow('no effect');
  await writeFile(at('empty.srt'), 'nothing here');
  await expect(runTool(subtitleConverter, [at('empty.srt')])).rejects.toMatchObject({ code: 'invalid_input' });
});

test('shifts times and leaves everything else', async () => {
  await using run = await runTool(subtitleShifter, [sample('srt'), sample('vtt'), sample('ass')], {
    offset_ms: '-1500',
  });
  const [srt, vtt, ass] = await Promise.all(run.outputs.map(({ path }) => textOf(path)));
  expect(srt).toContain('1\n00:00:00,000 --> 00:00:00,400\n<i>The wheel');
  expect(srt).toContain('2\n00:01:00,750 --> 00:01:02,500\nThe end');
  expect(srt).not.toContain('Good morning');
  expect(vtt).toMatch(/^WEBVTT\n\n00:00\.000 --> 00:00\.400\n<i>The wheel/);
  expect(ass).toContain('Dialogue: 0,0:00:00.00,0:00:00.40,Default');
  expect(ass).toContain('Style: Default,Arial,16');
  await using late = await runTool(subtitleShifter, [sample('srt')], { offset_ms: '1000', scale: '2', from: '1.3' });
  const text = await textOf(late.outputs[0]?.path);
  expect(text).toContain('00:00:00,500 --> 00:00:01,200');
  expect(text).toContain('00:00:03,600 --> 00:00:04,800');
  await using same = await runTool(subtitleShifter, [at('old.srt')], { offset_ms: '100' });
  expect(iconv.decode(await readFile(same.outputs[0]?.path ?? ''), 'win1251')).toBe(
    russian.replace('00,500', '00,600').replace('01,900', '02,000'),
  );
  await expect(runTool(subtitleShifter, [sample('srt')], { offset_ms: '-999000' })).rejects.toThrow(
    'no subtitles left',
  );
});

test('extracts tracks', async () => {
  await using run = await runTool(subtitleExtractor, [at('two.mkv')], { format: 'vtt' });
  expect(run.outputs.map(({ filename }) => filename)).toEqual(['two-0-ger.vtt', 'two-1.vtt']);
  for (const { path } of run.outputs) expect(await textOf(path)).toContain('<i>The wheel turns.</i>');
  await expect(runTool(subtitleExtractor, [at('two.mkv')], { track: '2' })).rejects.toThrow('there is no track 2');
  await expect(runTool(subtitleExtractor, [sample('mkv')])).rejects.toThrow('has no subtitles');
});

test('extracts from a file that holds subtitles alone', async () => {
  make(['-i', sample('srt'), '-c:s', 'mov_text', at('alone.mp4')]);
  await using run = await runTool(subtitleExtractor, [at('alone.mp4')]);
  expect(await textOf(run.outputs[0]?.path)).toContain('The wheel turns.');
  await expect(runTool(videoMuter, [at('alone.mp4')])).rejects.toThrow('subtitles alone');
});

test('draws subtitles onto the picture', async () => {
  const form = { font_color: '#ffff00', border: 'none', position: 'top', font_size: '60' };
  await using run = await runTool(subtitleBurner, [sample('srt'), at('blue.mp4')], form);
  const frame = at('frame.png');
  make(['-ss', '1', '-i', run.outputs[0]?.path ?? '', '-frames:v', '1', frame]);
  const yellowIn = async (top: number) => {
    const part = await sharp(frame).extract({ left: 0, top, width: 320, height: 120 }).png().toBuffer();
    const { channels } = await sharp(part).stats();
    return (channels[0]?.max ?? 0) > 220 && (channels[2]?.min ?? 255) < 60;
  };
  expect(await yellowIn(0)).toBe(true);
  expect(await yellowIn(120)).toBe(false);
  await writeFile(at('late.srt'), '1\n00:10:00,000 --> 00:10:01,000\nlate\n');
  await expect(runTool(subtitleBurner, [at('late.srt'), at('blue.mp4')])).rejects.toThrow('nothing would be seen');
  await expect(runTool(subtitleBurner, [at('blue.mp4'), at('blue.mp4')])).rejects.toThrow('must be subtitles');
});
