import { loadSharp } from './sharp.ts';

/** Loads what most runs need, so that a waiting tool host has it in memory. */
export async function warmUp(): Promise<void> {
  const sharp = await loadSharp();
  // The first pipeline of each kind initialises libvips and its codec.
  const blank = sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } });
  await Promise.all([blank.clone().jpeg().toBuffer(), blank.clone().png({ palette: true }).toBuffer()]);
}
