import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ImageViewer } from './image-viewer.tsx';
import { PreviewLoading, PreviewMessage } from './preview-message.tsx';
import { localPath } from '../../api.ts';
import type { PreviewProps } from './preview.ts';
import { readBytes } from './read-head.ts';
import { useObjectUrl } from './use-object-url.ts';

/** Larger drawings take a browser too long to draw. */
const largestDrawing = 5_000_000;

/** A raster image straight from its download address. */
export function ImagePreview({ output, url, original }: PreviewProps) {
  const originalUrl = useObjectUrl(original);
  const before =
    original === undefined || originalUrl === undefined ? undefined : { src: originalUrl, name: original.name };
  if (original !== undefined && before === undefined) return <PreviewLoading />;
  return <ImageViewer src={localPath(url)} name={output.filename} {...(before === undefined ? {} : { before })} />;
}

/** An SVG only as an image of a blob: in an `img` nothing in it runs or is loaded, and it never has an address of its own. */
export function DrawingPreview({ output, url, original }: PreviewProps) {
  const tooLarge = output.size_bytes > largestDrawing;
  const { data, error } = useQuery({
    queryKey: ['drawing', output.sha256],
    queryFn: ({ signal }) => readBytes(url, largestDrawing, signal),
    enabled: !tooLarge,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const blob = useMemo(() => (data === undefined ? undefined : new Blob([data], { type: 'image/svg+xml' })), [data]);
  const src = useObjectUrl(blob);
  const originalUrl = useObjectUrl(original);
  if (tooLarge) return <PreviewMessage>This drawing is too large for a preview.</PreviewMessage>;
  if (error !== null) return <PreviewMessage>{error.message}</PreviewMessage>;
  if (src === undefined || (original !== undefined && originalUrl === undefined)) return <PreviewLoading />;
  const before =
    original === undefined || originalUrl === undefined ? undefined : { src: originalUrl, name: original.name };
  return <ImageViewer src={src} name={output.filename} {...(before === undefined ? {} : { before })} />;
}
