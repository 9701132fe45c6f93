import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { stopLibreOffice } from '../../engines/libreoffice.ts';
import { difference, pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import tool from './pdfa-converter.ts';

const letter = join(import.meta.dirname, '../../../test/fixtures/word/letter.odt');
afterAll(stopLibreOffice);

const fonts = (path: string) => execFileSync('pdffonts', [path], { encoding: 'utf8' }).split('\n').slice(2, -1);

describe('pdfa-converter', { timeout: 120_000 }, () => {
  test.each(['1b', '2u'])('a PDF becomes PDF/A-%s and looks the same', async (level) => {
    const source = pdfFixture('unicode');
    await using run = await runTool(tool, [source], { level, allow_downgrade: level === '2u' ? 'true' : 'false' });
    const path = run.outputs[0]?.path ?? '';
    expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
    const text = qpdfText(path);
    expect(text).toMatch(new RegExp(`pdfaid:part(='|>)${level[0]}`));
    expect(text).toMatch(/\/GTS_PDFA1/);
    for (const line of fonts(path)) expect(line).toMatch(/\s(yes) (yes|no) +(yes|no) +\d+ +\d+$/);
    expect(popplerText(path)).toHaveLength(popplerText(source).length);
    const [before, after] = await Promise.all([renderAll(source), renderAll(path)]);
    for (const [index, page] of before.entries()) expect(difference(page, after[index])).toBeLessThan(4);
  });

  test('LibreOffice writes office documents itself', async () => {
    await using run = await runTool(tool, [letter], { level: '3b' });
    const path = run.outputs[0]?.path ?? '';
    expect(qpdfText(path)).toMatch(/pdfaid:part(='|>)3/);
    for (const line of fonts(path)) expect(line).toMatch(/\s(yes) (yes|no) +(yes|no) +\d+ +\d+$/);
  });

  test('what would be lost is refused when nothing may be', async () => {
    const strict = { allow_downgrade: 'false' };
    const refused = { code: 'invalid_input', message: expect.stringContaining('form fields') as string };
    await expect(runTool(tool, [pdfFixture('form')], strict)).rejects.toMatchObject(refused);
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
    await expect(runTool(tool, [pdfFixture('zero-pages')])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
