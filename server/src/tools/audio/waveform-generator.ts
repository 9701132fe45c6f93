import { writeFile } from 'node:fs/promises';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { measureWaveform, waveformJson, waveformPng, waveformSvg } from '../../engines/media/waveform.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool } from '../define.ts';
import { choice, color, int } from '../settings.ts';
import { eachSound } from './each-sound.ts';

export default defineTool({
  slug: 'waveform-generator',
  name: 'Waveform Generator',
  category: 'audio',
  description: 'Draws the waveform of sounds, or returns its peaks as JSON for players on the web.',
  accepts: audioTypes,
  produces: ['png', 'svg', 'json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg, sharpEngine],
  settings: {
    format: choice({ of: ['png', 'svg', 'json'], default: 'png', describe: 'The format to return.' }),
    width: int({ min: 16, max: 16_000, default: 1200, describe: 'Pixels; in JSON the number of pairs of peaks.' }),
    height: int({ min: 16, max: 4000, default: 200, describe: 'Pixels; without meaning for JSON.' }),
    color: color({ default: '#3366ff', describe: 'Colour of the waveform.' }),
    background: color({ transparent: true, default: 'transparent', describe: 'Colour behind it, or transparent.' }),
  },
  run: (context) =>
    eachSound(context, async (sound, { stem }, onProgress) => {
      const { settings, signal, output } = context;
      const { format, ...style } = settings;
      const waveform = await measureWaveform(sound, style.width, { signal, onProgress });
      const path = output(`${stem}.${format}`);
      if (format === 'png') await writeFile(path, await waveformPng(waveform, style));
      else await writeFile(path, format === 'svg' ? waveformSvg(waveform, style) : waveformJson(waveform));
    }),
});
