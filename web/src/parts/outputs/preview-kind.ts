import type { Output } from '@millrun/sdk';

/** How an output is shown. Whatever a browser would interpret as a document is text or nothing. */
export type PreviewKind = 'image' | 'drawing' | 'pdf' | 'audio' | 'video' | 'csv' | 'json' | 'text' | 'none';

const exact: Readonly<Record<string, PreviewKind>> = {
  'image/svg+xml': 'drawing',
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/json': 'json',
  'application/geo+json': 'json',
  'application/x-ndjson': 'json',
  'application/xml': 'text',
  'application/yaml': 'text',
  'application/toml': 'text',
  'application/sql': 'text',
  'application/x-subrip': 'text',
  'application/ttml+xml': 'text',
};

/** By the media type that the service found in the content, never by the name. */
export function previewKindOf({ media_type: mediaType }: Pick<Output, 'media_type'>): PreviewKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  const known = exact[type];
  if (known !== undefined) return known;
  const [family] = type.split('/');
  if (family === 'image' || family === 'audio' || family === 'video' || family === 'text') return family;
  return 'none';
}
