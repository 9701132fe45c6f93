import { ActionIcon, Group, SegmentedControl, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { useEffect, useRef, useState } from 'react';
import { localPath } from '../../api.ts';
import { openPdf } from './pdf-engine.ts';
import { PreviewLoading, PreviewMessage } from './preview-message.tsx';
import type { PreviewProps } from './preview.ts';
import classes from './preview.module.css';

type Zoom = 'page' | 'width';

/** Pixels of a canvas; browsers refuse much larger ones. */
const mostPixels = 16_000_000;
/** Space around the page, in CSS pixels. */
const margin = 16;

/** The pages of a PDF, one at a time. */
export default function PdfPreview({ output, url }: PreviewProps) {
  const [pdf, setPdf] = useState<PDFDocumentProxy>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const task = openPdf(localPath(url));
    task.promise.then(setPdf, (error: unknown) => {
      if (!task.destroyed) setProblem(sayProblem(error));
    });
    return () => {
      setPdf(undefined);
      void task.destroy();
    };
  }, [url]);
  if (problem !== undefined) return <PreviewMessage>{problem}</PreviewMessage>;
  if (pdf === undefined) return <PreviewLoading />;
  return <Pages pdf={pdf} name={output.filename} />;
}

function Pages({ pdf, name }: { pdf: PDFDocumentProxy; name: string }) {
  const [number, setNumber] = useState(1);
  const [zoom, setZoom] = useState<Zoom>('page');
  return (
    <>
      <div className={classes['bar']}>
        <SegmentedControl
          size="xs"
          aria-label="Size of the page"
          value={zoom}
          onChange={setZoom}
          data={[
            { value: 'page', label: 'Page' },
            { value: 'width', label: 'Width' },
          ]}
        />
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes['quiet'] ?? ''}
            aria-label="Previous page"
            disabled={number === 1}
            onClick={() => setNumber(number - 1)}
          >
            <IconChevronLeft size={16} aria-hidden />
          </ActionIcon>
          <Text size="xs" c="dimmed" aria-live="polite">
            Page {number} of {pdf.numPages}
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes['quiet'] ?? ''}
            aria-label="Next page"
            disabled={number === pdf.numPages}
            onClick={() => setNumber(number + 1)}
          >
            <IconChevronRight size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </div>
      <Sheet pdf={pdf} number={number} zoom={zoom} label={`Page ${number} of ${name}`} />
    </>
  );
}

function Sheet({ pdf, number, zoom, label }: { pdf: PDFDocumentProxy; number: number; zoom: Zoom; label: string }) {
  const { ref, width, height } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (width === 0 || canvas.current === null) return undefined;
    const target = canvas.current;
    let stop = () => undefined as void;
    let stopped = false;
    const show = async () => {
      const page = await pdf.getPage(number);
      if (stopped) return;
      const drawing = drawPage(page, target, { width, height, zoom });
      stop = () => drawing.cancel();
      await drawing.promise;
    };
    setFailed(false);
    show().catch(() => {
      if (!stopped) setFailed(true);
    });
    return () => {
      stopped = true;
      stop();
    };
  }, [pdf, number, zoom, width, height]);
  return (
    <div className={classes['sheet']} ref={ref} tabIndex={0} role="region" aria-label={label}>
      {failed && <PreviewMessage>This page could not be drawn. Download the file to look at it.</PreviewMessage>}
      <canvas ref={canvas} className={classes['page']} hidden={failed} role="img" aria-label={label} />
    </div>
  );
}

function drawPage(page: PDFPageProxy, canvas: HTMLCanvasElement, room: { width: number; height: number; zoom: Zoom }) {
  const natural = page.getViewport({ scale: 1 });
  const byWidth = (room.width - margin) / natural.width;
  const byHeight = (room.height - margin) / natural.height;
  const scale = room.zoom === 'width' ? byWidth : Math.min(byWidth, byHeight);
  const cssWidth = natural.width * scale;
  const cssHeight = natural.height * scale;
  const density = Math.min(window.devicePixelRatio, Math.sqrt(mostPixels / (cssWidth * cssHeight)));
  const viewport = page.getViewport({ scale: scale * density });
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  canvas.style.width = `${cssWidth}px`;
  canvas.style.height = `${cssHeight}px`;
  return page.render({ canvas, viewport });
}

function sayProblem(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return 'This PDF is encrypted. Download it and open it with its password.';
  if (name === 'ResponseException')
    return 'The file could not be loaded. Its address may have expired: load the page again.';
  return 'This PDF cannot be shown here. Download it to look at it.';
}
