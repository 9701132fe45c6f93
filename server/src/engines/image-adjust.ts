import { type OpenImage, withSteps } from './images.ts';

export interface Adjustments {
  /** Factors; 1 changes nothing. */
  brightness: number;
  contrast: number;
  saturation: number;
  /** Degrees around the colour circle. */
  hue: number;
  /** Above 1 lightens what is neither black nor white, below 1 darkens it; 1/3 to 3. */
  gamma: number;
  /** -100 (bluish) to 100 (yellowish). */
  temperature: number;
}

/** The share of each channel in how bright a colour looks (Rec. 709). */
const luminance = [0.2126, 0.7152, 0.0722] as const;

/** Changes the colours of every frame; transparency stays. */
export function adjustColors(image: OpenImage, wanted: Adjustments): OpenImage {
  const { brightness, contrast, saturation, hue, gamma, temperature } = wanted;
  const isColored = !image.isGrey || temperature !== 0;
  const middle = image.is16Bit ? 32_768 : 128;
  const gains = isColored ? temperatureGains(temperature) : [1];
  const factors = gains.map((gain) => gain * brightness * contrast);
  const offsets = gains.map(() => middle * (1 - contrast));
  return withSteps(image, (pipeline) => {
    let changed = pipeline;
    if (image.isGrey && isColored) changed = changed.pipelineColourspace(image.is16Bit ? 'rgb16' : 'srgb');
    if (factors.some((factor) => factor !== 1) || contrast !== 1) changed = changed.linear(factors, offsets);
    if (isColored && (saturation !== 1 || hue !== 0)) changed = changed.modulate({ saturation, hue });
    if (gamma > 1) changed = changed.gamma(1, gamma);
    if (gamma < 1) changed = changed.gamma(1 / gamma, 1);
    return changed;
  });
}

/** What each channel is multiplied by: red against blue, at the same brightness for grey. */
function temperatureGains(temperature: number): number[] {
  const gains = [2 ** (temperature / 250), 1, 2 ** (-temperature / 250)];
  const brightness = gains.reduce((sum, gain, channel) => sum + gain * (luminance[channel] ?? 0), 0);
  return gains.map((gain) => gain / brightness);
}
