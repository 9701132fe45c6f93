import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { difference, keptFixture, pixel, quarterColors } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { heicEncoder } from '../../engines/heic.ts';
import { runProgram } from '../../sandbox/program.ts';
import heicConverter from './heic-converter.ts';

test('a photo becomes JPEG, PNG or WebP with its colours', async () => {
  for (const format of ['jpeg', 'png', 'webp']) {
    await using run = await runTool(heicConverter, [keptFixture('photo.heic')], { format });
    const [output] = run.outputs;
    expect(output?.type).toBe(format);
    const { width, height } = await sharp(output?.path).metadata();
    const corners = { topLeft: [0, 0], topRight: [1, 0], bottomLeft: [0, 1], bottomRight: [1, 1] } as const;
    for (const [name, [right, down]] of Object.entries(corners)) {
      const shown = await pixel(output?.path ?? '', right * (width - 20) + 10, down * (height - 20) + 10);
      expect(difference(shown, quarterColors[name as keyof typeof corners])).toBeLessThan(10);
    }
  }
});

test.skipIf((await heicEncoder.version()) === undefined)('metadata and profile stay unless they are stripped', () =>
  withTemporaryDirectory(async (directory) => {
    const [jpeg, heic] = [join(directory, 'photo.jpg'), join(directory, 'photo.heic')];
    await sharp({ create: { width: 64, height: 48, channels: 3, background: '#283cb4' } })
      .withIccProfile('p3')
      .withExif({ IFD0: { Make: 'Phone', Model: 'One' } })
      .jpeg()
      .toFile(jpeg);
    await runProgram('heif-enc', ['-o', heic, jpeg]);
    for (const format of ['jpeg', 'png', 'webp']) {
      await using kept = await runTool(heicConverter, [heic], { format });
      const metadata = await sharp(kept.outputs[0]?.path).metadata();
      expect(metadata.exif?.includes('Phone')).toBe(true);
      expect(metadata.hasProfile).toBe(true);
      await using stripped = await runTool(heicConverter, [heic], { format, strip_metadata: 'true' });
      expect((await readFile(stripped.outputs[0]?.path ?? '')).includes('Phone')).toBe(false);
    }
  }),
);

test('a file cut short is a failure with its name', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'cut.heic');
    await writeFile(path, (await readFile(keptFixture('photo.heic'))).subarray(0, 1200));
    await expect(runTool(heicConverter, [path])).rejects.toMatchObject({ code: 'invalid_input', file: 'cut.heic' });
  }));
