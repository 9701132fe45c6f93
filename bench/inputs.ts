import sharp from 'sharp';

/** A 12-megapixel photo-like JPEG of about 2.5 MB: smooth shapes, edges and grain. */
export async function makePhoto(): Promise<Buffer> {
  const [width, height] = [4000, 3000];
  const shapes = await sharp({
    create: {
      width: width / 10,
      height: height / 10,
      channels: 3,
      background: '#456',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .blur(4)
    .resize(width, height, { kernel: 'cubic' })
    .jpeg({ quality: 95 })
    .toBuffer();
  const grain = await sharp({
    create: { width, height, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 6, sigma: 4 } },
  })
    .blur(0.6)
    .png()
    .toBuffer();
  return sharp(shapes)
    .composite([{ input: grain, blend: 'add' }])
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** A 640 x 440 PNG of about 64 kB that looks like a screenshot: text on a gradient. */
export async function makeScreenshot(): Promise<Buffer> {
  const lines = Array.from(
    { length: 9 },
    (_, i) =>
      `<text x="12" y="${40 + i * 28}" font-size="14">Line ${i} of a screenshot: ${'word '.repeat(6)}${i * 7919}</text>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="440"><defs><linearGradient id="g"><stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#aac"/></linearGradient></defs><rect width="640" height="440" fill="url(#g)"/>${lines.join('')}</svg>`;
  return sharp(Buffer.from(svg)).flatten().png().toBuffer();
}
