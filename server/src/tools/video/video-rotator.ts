import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { setRotation } from '../../engines/media/mp4-rotation.ts';
import { evenSize, shownSize } from '../../engines/media/picture.ts';
import { keptVideoType } from '../../engines/media/video-formats.ts';
import { type Video, keptEncoding, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf, type FileTypeId } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, flag } from '../settings.ts';
import { eachVideo } from './each-video.ts';

/** Degrees clockwise, and the filter that does it. Pixels that are not square have been made so before. */
const transforms = {
  cw90: { degrees: 90, filter: 'transpose=clock' },
  ccw90: { degrees: 270, filter: 'transpose=cclock' },
  '180': { degrees: 180, filter: 'hflip,vflip' },
  hflip: { degrees: undefined, filter: 'hflip' },
  vflip: { degrees: undefined, filter: 'vflip' },
} as const;

/** Formats that say by how much their picture is to be turned. */
const turnedByPlayer: readonly FileTypeId[] = ['mp4', 'mov', '3gp'];

export default defineTool({
  slug: 'video-rotator',
  name: 'Video Rotator',
  category: 'video',
  description: 'Turns or mirrors videos.',
  accepts: videoTypes,
  produces: videoTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings: {
    transform: choice({
      of: ['cw90', 'ccw90', '180', 'hflip', 'vflip'],
      default: 'cw90',
      describe: 'A quarter turn clockwise or counter-clockwise, a half turn, or mirrored sideways or upside down.',
    }),
    metadata_only: flag({
      default: false,
      describe:
        'Only tell players to turn the picture: at once and without loss. MP4, MOV and 3GP can; mirroring cannot.',
    }),
  },
  check({ transform, metadata_only }, inputs) {
    if (!metadata_only) return {};
    if (transforms[transform].degrees === undefined) return { metadata_only: [`is not possible with ${transform}`] };
    const index = inputs.findIndex(({ type }) => !turnedByPlayer.includes(type));
    return index === -1 ? {} : { [`files.${index}`]: ['is in a format that cannot tell players to turn the picture'] };
  },
  run: (context) =>
    eachVideo(context, async (video, { type: given, stem }, onProgress) => {
      const { signal, log, output, settings } = context;
      const { degrees, filter } = transforms[settings.transform];
      const type = keptVideoType(given);
      const path = output(`${stem}.${extensionOf(type)}`);
      const shown = shownSize(video.picture);
      const turned = degrees === 90 || degrees === 270 ? { width: shown.height, height: shown.width } : shown;
      const picture = {
        ...keptEncoding(type, video.picture),
        filters: [`scale=${shown.width}:${shown.height}`, 'setsar=1', filter],
        size: evenSize(turned),
      };
      const job = { video, output: { type, path }, sound: soundFor(type), signal, onProgress, log };
      await writeVideo({ ...job, picture: settings.metadata_only ? 'copy' : picture });
      if (settings.metadata_only) await turnByPlayer(video, path, degrees ?? 0);
    }),
});

/** On top of how a phone has it turned already. */
async function turnByPlayer({ file: { filename }, picture }: Video, path: string, degrees: number): Promise<void> {
  const { rotation, width, height } = picture;
  const isOnItsSide = Math.abs(rotation) % 180 === 90;
  const stored = isOnItsSide ? { width: height, height: width } : { width, height };
  // FFmpeg counts counter-clockwise.
  const total = (((degrees - rotation) % 360) + 360) % 360;
  if (total % 90 === 0 && (await setRotation(path, total, stored.width, stored.height))) return;
  const message = `"${filename}" has no place that tells players to turn it: leave metadata_only off.`;
  throw new Failure('invalid_input', message, { file: filename });
}
