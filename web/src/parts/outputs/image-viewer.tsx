import { ActionIcon, Modal, SegmentedControl, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowsHorizontal, IconMaximize, IconPhotoOff } from '@tabler/icons-react';
import { useEffect, useRef, useState, type CSSProperties, type SyntheticEvent } from 'react';
import { formatNumber } from '../format.ts';
import { PreviewMessage } from './preview-message.tsx';
import classes from './preview.module.css';

interface ImageViewerProps {
  src: string;
  name: string;
  /** The image it was made of, where the person still has it. */
  before?: { src: string; name: string };
}

type Zoom = 'fit' | 'actual';

interface Size {
  width: number;
  height: number;
}

/** Sides may differ by rounding when one is the other made smaller. */
const aspectTolerance = 0.02;

/** An image, whole or at its own size; beside the one it was made of, under a slider where both have the same shape. */
export function ImageViewer(props: ImageViewerProps) {
  const [large, { open, close }] = useDisclosure();
  return (
    <>
      <Viewer {...props} onEnlarge={open} />
      <Modal
        opened={large}
        onClose={close}
        fullScreen
        title={<Text truncate>{props.name}</Text>}
        closeButtonProps={{ 'aria-label': 'Close' }}
        className={classes['large'] ?? ''}
      >
        <Viewer {...props} />
      </Modal>
    </>
  );
}

function Viewer({ src, name, before, onEnlarge }: ImageViewerProps & { onEnlarge?: () => void }) {
  const [zoom, setZoom] = useState<Zoom>('fit');
  const [size, setSize] = useState<Size>();
  const [beforeSize, setBeforeSize] = useState<Size>();
  const [failed, setFailed] = useState(false);
  const [beforeFailed, setBeforeFailed] = useState(false);
  const stage = useRef<HTMLDivElement>(null);
  // What was looked at stays in sight: the line between before and after, else the middle.
  useEffect(() => {
    const { current } = stage;
    if (zoom === 'fit' || current === null) return;
    const line = current.querySelector<HTMLElement>('[data-divider]')?.offsetLeft ?? current.scrollWidth / 2;
    current.scrollTo(line - current.clientWidth / 2, (current.scrollHeight - current.clientHeight) / 2);
  }, [zoom]);
  if (failed)
    return (
      <PreviewMessage icon={<IconPhotoOff size={28} stroke={1.5} aria-hidden />}>
        This browser cannot show this kind of image. Download it to look at it.
      </PreviewMessage>
    );
  const after = { src, alt: name, onSize: setSize, onFailure: () => setFailed(true) };
  const compared =
    before === undefined || beforeFailed
      ? undefined
      : { src: before.src, alt: before.name, onSize: setBeforeSize, onFailure: () => setBeforeFailed(true) };
  return (
    <>
      <div className={classes['bar']}>
        <SegmentedControl
          size="xs"
          aria-label="Size of the preview"
          value={zoom}
          onChange={setZoom}
          data={[
            { value: 'fit', label: 'Fit' },
            { value: 'actual', label: '100 %' },
          ]}
        />
        <Text size="xs" c="dimmed">
          {sayPixels(compared === undefined ? undefined : beforeSize, size)}
        </Text>
        {onEnlarge !== undefined && (
          <Tooltip label="Show it large">
            <ActionIcon variant="subtle" color="gray" onClick={onEnlarge} aria-label="Show it large">
              <IconMaximize size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      <div className={classes['stage']} ref={stage} tabIndex={zoom === 'actual' ? 0 : undefined}>
        {compared === undefined ? (
          <Picture {...after} zoom={zoom} />
        ) : (
          <Comparison after={after} before={compared} size={size} beforeSize={beforeSize} zoom={zoom} />
        )}
      </div>
    </>
  );
}

interface Source {
  src: string;
  alt: string;
  onSize: (size: Size) => void;
  onFailure: () => void;
}

function Picture({ src, alt, onSize, onFailure, zoom }: Source & { zoom: Zoom }) {
  return (
    <img
      src={src}
      alt={alt}
      decoding="async"
      className={`${classes['picture']} ${zoom === 'fit' ? classes['fitted'] : ''}`}
      onLoad={(event) => onSize(sizeOf(event))}
      onError={onFailure}
    />
  );
}

/** A drawing without a size of its own has none in pixels. */
function sizeOf({ currentTarget }: SyntheticEvent<HTMLImageElement>): Size {
  return { width: currentTarget.naturalWidth || 300, height: currentTarget.naturalHeight || 150 };
}

interface ComparisonProps {
  after: Source;
  before: Source;
  /** Undefined until it is loaded. */
  size: Size | undefined;
  beforeSize: Size | undefined;
  zoom: Zoom;
}

function Comparison(props: ComparisonProps) {
  const { after, before, size, beforeSize, zoom } = props;
  if (size === undefined || beforeSize === undefined || haveSameShape(size, beforeSize)) return <Slider {...props} />;
  return (
    <div className={classes['sides']} data-zoom={zoom}>
      <Side label="Before" {...before} zoom={zoom} />
      <Side label="After" {...after} zoom={zoom} />
    </div>
  );
}

function Side({ label, ...picture }: Source & { label: string; zoom: Zoom }) {
  return (
    <div className={classes['side']}>
      <Picture {...picture} />
      <Text size="xs" c="dimmed">
        {label}
      </Text>
    </div>
  );
}

function Slider({ after, before, size, beforeSize, zoom }: ComparisonProps) {
  const [at, setAt] = useState(50);
  const measured = size !== undefined && beforeSize !== undefined;
  const { width, height } = measured ? larger(size, beforeSize) : { width: 1, height: 1 };
  const ratio = width / height;
  // As large as the stage lets it be in both directions, and never larger than it is.
  const fitted = { width: `min(100cqw, calc(100cqh * ${ratio}), ${width}px)`, aspectRatio: `${ratio}` };
  const box: CSSProperties & Record<'--at', string> = {
    ...(zoom === 'actual' ? { width, height } : fitted),
    '--at': `${at}%`,
  };
  return (
    <div className={classes['room']} data-zoom={zoom} style={{ visibility: measured ? 'visible' : 'hidden' }}>
      <div className={classes['comparison']} style={box}>
        <img
          src={after.src}
          alt={`${after.alt}, after`}
          className={classes['picture']}
          onLoad={(event) => after.onSize(sizeOf(event))}
          onError={after.onFailure}
        />
        <img
          src={before.src}
          alt={`${before.alt}, before`}
          className={`${classes['picture']} ${classes['before']}`}
          onLoad={(event) => before.onSize(sizeOf(event))}
          onError={before.onFailure}
        />
        <span className={classes['tag']} data-side="before">
          Before
        </span>
        <span className={classes['tag']} data-side="after">
          After
        </span>
        <input
          type="range"
          min={0}
          max={100}
          value={at}
          onChange={(event) => setAt(event.currentTarget.valueAsNumber)}
          className={classes['range']}
          aria-label="How much is shown as it was before"
          aria-valuetext={`${at} % before, ${100 - at} % after`}
        />
        <span className={classes['divider']} data-divider>
          <span className={classes['handle']}>
            <IconArrowsHorizontal size={18} aria-hidden />
          </span>
        </span>
      </div>
    </div>
  );
}

function larger(a: Size, b: Size): Size {
  return a.width >= b.width ? a : b;
}

function haveSameShape(a: Size, b: Size): boolean {
  const ratio = a.width / a.height / (b.width / b.height);
  return Math.abs(ratio - 1) <= aspectTolerance;
}

function sayPixels(before: Size | undefined, after: Size | undefined): string {
  if (after === undefined) return '';
  const say = ({ width, height }: Size) => `${formatNumber(width)} × ${formatNumber(height)}`;
  if (before === undefined || say(before) === say(after)) return `${say(after)} pixels`;
  return `${say(before)} → ${say(after)} pixels`;
}
