import type { FileTypeId } from '../../lib/media-types.ts';

/** Formats the video tools read. Each may turn out to hold sound alone. */
export const videoTypes = [
  'mp4',
  'mov',
  'mkv',
  'webm',
  'avi',
  'wmv',
  'flv',
  'mpeg',
  'mpegts',
  '3gp',
  'ogv',
] as const satisfies readonly FileTypeId[];

/** Formats the audio tools read. */
export const audioTypes = [
  'mp3',
  'wav',
  'flac',
  'ogg',
  'opus',
  'm4a',
  'aac',
  'aiff',
  'wma',
  'amr',
  'ac3',
] as const satisfies readonly FileTypeId[];
