import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import type { FfmpegInput, MediaFile } from '../ffmpeg.ts';
import { imageFailure } from '../image-failure.ts';
import { type ImageFile, type OpenImage, type Workspace, openImage } from '../images.ts';
import type { PictureSize } from './picture.ts';
import { transcode } from './transcode.ts';
import { audioEncoderFilters, audioEncoderOptions, containers, videoEncoderOptions } from './video-formats.ts';

export const slideFits = ['contain', 'cover', 'blur_pad'] as const;
export type SlideFit = (typeof slideFits)[number];

export interface Slideshow {
  /** Pictures in the size of the video, as `writeSlide` makes them. */
  slides: readonly string[];
  secondsPerSlide: number;
  crossfade: boolean;
  fps: number;
  size: PictureSize;
  /** Repeated or cut to the length of the pictures. */
  audio: MediaFile | undefined;
  output: { type: 'mp4' | 'webm'; path: string };
  workspace: Workspace;
  onProgress: (percent: number) => void;
}

/** How long a crossfade is about, in seconds. */
const usualFade = 1;

/** Draws an image upright into a picture of this size. @throws Failure as `openImage`. */
export async function writeSlide(
  file: ImageFile,
  workspace: Workspace,
  size: PictureSize,
  fit: SlideFit,
  path: string,
): Promise<void> {
  const image = await openImage(file, workspace, { animated: false });
  await drawSlide(image, size, fit, path).catch((error: unknown) => {
    throw imageFailure(error, file);
  });
}

async function drawSlide(image: OpenImage, size: PictureSize, fit: SlideFit, path: string): Promise<void> {
  const flat = (pipeline: Sharp) => pipeline.flatten({ background: '#000000' }).toColourspace('srgb');
  const inside = { ...size, background: '#000000' };
  if (fit !== 'blur_pad') {
    const slide = flat(image.pipeline.clone()).resize({ ...inside, fit });
    await writeFile(path, await slide.png({ compressionLevel: 1 }).toBuffer());
    return;
  }
  const { loadSharp } = await import('../sharp.ts');
  const sharp = await loadSharp();
  const whole = await flat(image.pipeline.clone())
    .resize({ ...size, fit: 'inside' })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const behind = await sharp(whole)
    .resize({ ...size, fit: 'cover' })
    .blur(Math.max(4, size.height / 36))
    .modulate({ brightness: 0.8 })
    .toBuffer();
  await sharp(behind)
    .composite([{ input: whole, gravity: 'centre' }])
    .png({ compressionLevel: 1 })
    .toFile(path);
}

/**
 * Makes a video of slides. @throws Failure as `transcode`.
 */
export async function writeSlideshow(show: Slideshow): Promise<void> {
  const { slides, secondsPerSlide, fps, size, audio, output, workspace, onProgress } = show;
  const durationSeconds = slides.length * secondsPerSlide;
  // FFmpeg fades between any two frames that follow each other. A slide that is several equal frames stands still
  // between them and fades only into the next one.
  const repeats = show.crossfade ? Math.max(2, Math.round(secondsPerSlide / usualFade)) : 1;
  const pattern = await linkFrames(slides, repeats, workspace.scratch);
  const rate = `${repeats * 1000}/${Math.round(secondsPerSlide * 1000)}`;
  const filters = [
    show.crossfade ? `framerate=fps=${fps}:interp_start=0:interp_end=255:scene=100:flags=0` : `fps=${fps}`,
    `tpad=stop_mode=clone:stop_duration=${secondsPerSlide}`,
    `trim=duration=${durationSeconds}`,
    'scale=out_color_matrix=bt709:out_range=tv',
    'format=yuv420p',
  ];
  const pictures: FfmpegInput = { source: ['-framerate', rate, '-f', 'image2', '-i', `file:${pattern}`] };
  const encoding = { codec: containers[output.type].audio, bitRate: 192_000 };
  await transcode({
    inputs: audio === undefined ? [pictures] : [pictures, { source: audio, options: ['-stream_loop', '-1'] }],
    args: [
      ...['-map', '0:v', '-vf', filters.join(',')],
      ...videoEncoderOptions({ codec: containers[output.type].video, rate: { crf: 20 }, preset: 'medium' }),
      ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
      ...(audio === undefined ? [] : ['-map', '1:a:0', ...audioEncoderOptions(0, encoding, 2), '-ac', '2']),
      ...(audio === undefined
        ? []
        : ['-af', [...audioEncoderFilters(output.type, encoding), ...ending(durationSeconds)].join(',')]),
      ...['-t', String(durationSeconds), '-map_metadata', '-1', '-max_muxing_queue_size', '4096'],
      ...(containers[output.type].options ?? []),
    ],
    output,
    expected: { durationSeconds, video: true, audioTracks: audio === undefined ? 0 : 1, size },
    signal: workspace.signal,
    onProgress,
  });
}

/** Music that is cut off goes out softly. */
function ending(durationSeconds: number): string[] {
  const fade = Math.min(2, durationSeconds / 4);
  return [`afade=t=out:st=${durationSeconds - fade}:d=${fade}`];
}

async function linkFrames(slides: readonly string[], repeats: number, scratch: string): Promise<string> {
  const frames = slides.flatMap((slide) => Array.from({ length: repeats }, () => slide));
  for (const [index, slide] of frames.entries()) {
    await symlink(slide, join(scratch, `frame-${String(index).padStart(6, '0')}.png`));
  }
  return join(scratch, 'frame-%06d.png');
}
