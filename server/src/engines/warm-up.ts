/** Loads what most runs need, so that a waiting tool host has it in memory. */
export async function warmUp(): Promise<void> {
  const { default: sharp } = await import('sharp');
  // The first pipeline initialises libvips and its loaders.
  await sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } })
    .jpeg()
    .toBuffer();
}
