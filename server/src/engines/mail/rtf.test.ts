import { expect, test } from 'vitest';
import { decompressRtf, rtfToMail } from './rtf.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('unpacks the examples of [MS-OXRTFCP]', () => {
  const simple = '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c09002062 7705b06c647d0a800fa0';
  expect(decompressRtf(hex(simple)).toString('latin1')).toBe('{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n');
  const crossing = '1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0';
  expect(decompressRtf(hex(crossing)).toString('latin1')).toBe('{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}');
});

test('takes the text of RTF, in its code page and in Unicode', () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}{\*\generator X;}\pard \'cf\'f0\'e8\'e2\'e5\'f2\par a\tab b \u8364?\{x\}}`;
  expect(rtfToMail(Buffer.from(rtf, 'latin1')).text).toBe('Привет\na\tb €{x}');
});

test('takes the HTML out of RTF that Outlook wrapped it into', () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1252\fromhtml1 {\*\htmltag64 <p style="color:red">}\htmlrtf {\b \htmlrtf0 a & \'e4 \htmlrtf }\htmlrtf0 {\*\htmltag72 </p>}{\*\mhtmltag1 <x>}}`;
  expect(rtfToMail(Buffer.from(rtf, 'latin1')).html).toBe('<p style="color:red">a &amp; ä </p>');
});
