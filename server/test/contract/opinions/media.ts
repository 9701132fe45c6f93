import { readFile } from 'node:fs/promises';
import { say, type Opinion } from './opinion.ts';

interface Track {
  '@type': string;
  Width?: string;
  Height?: string;
}

/** MediaInfo says what is in it; FFmpeg decodes every frame, since a container can promise what it does not hold. */
export const media: Opinion = async (path) => {
  const report = JSON.parse(await say('mediainfo', '--Output=JSON', path)) as { media: { track: Track[] } | null };
  const [videos = [], sounds = []] = ['Video', 'Audio'].map((type) =>
    (report.media?.track ?? []).filter((track) => track['@type'] === type),
  );
  const size = videos[0] === undefined ? {} : { width: Number(videos[0].Width), height: Number(videos[0].Height) };
  return {
    ...size,
    durationSeconds: await decodedSeconds(path),
    videoStreams: videos.length,
    audioStreams: sounds.length,
  };
};

/** @throws Error at the first frame that cannot be decoded. */
async function decodedSeconds(path: string): Promise<number> {
  const quietly = ['-v', 'error', '-nostats', '-xerror', '-progress', 'pipe:1'];
  const told = await say('ffmpeg', ...quietly, '-i', path, '-f', 'null', '-');
  return Number(told.match(/(?<=^out_time_us=)\d+$/gm)?.at(-1)) / 1_000_000;
}

export const subtitles: Opinion = async (path) => {
  const count = ['-count_packets', '-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0'];
  const packets = await say('ffprobe', '-v', 'error', ...count, path);
  if (Number(packets.trim()) === 0) throw new Error('has no cue');
  return { text: await readFile(path, 'utf8') };
};
