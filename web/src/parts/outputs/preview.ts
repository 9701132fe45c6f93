import type { Output } from '@millrun/sdk';

export interface PreviewProps {
  output: Output;
  /** The download address when the preview began: a newer one is not worth loading it again. */
  url: string;
  /** The image it was made of, where the person still has it. */
  original?: File | undefined;
}
