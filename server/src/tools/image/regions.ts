import type { Box } from '../../engines/image-geometry.ts';
import { type Field, type Json, json } from '../settings.ts';

const maxRegions = 100;
const side = { type: 'integer', minimum: 1, maximum: 100_000 };
const place = { type: 'integer', minimum: -100_000, maximum: 100_000 };
const schema = {
  type: 'array',
  minItems: 1,
  maxItems: maxRegions,
  items: {
    type: 'object',
    properties: { x: place, y: place, width: side, height: side },
    required: ['x', 'y', 'width', 'height'],
    additionalProperties: false,
  },
};

/** A setting that holds rectangles of an image, in pixels: `[{"x":10,"y":20,"width":80,"height":40}]`. */
export function regions(options: { describe: string }): Field<readonly Box[] | undefined> {
  const asJson = json<Json>({ ...options, schema, check: (value) => problemOf(value) ?? { value } });
  return {
    ...asJson,
    fallback: undefined,
    parse(text) {
      const parsed = asJson.parse(text);
      if ('problem' in parsed) return parsed;
      const list = parsed.value as unknown as { x: number; y: number; width: number; height: number }[];
      return { value: list.map(({ x, y, width, height }) => ({ left: x, top: y, width, height })) };
    },
  };
}

function problemOf(value: Json): { problem: string } | undefined {
  if (!Array.isArray(value) || value.length === 0) return { problem: 'must be a JSON list of at least one region' };
  if (value.length > maxRegions) return { problem: `must have at most ${maxRegions} regions` };
  const wrong = value.findIndex((region) => !isRegion(region));
  if (wrong === -1) return undefined;
  return {
    problem: `region ${wrong} must have whole numbers x, y, width and height, and a width and height of at least 1`,
  };
}

function isRegion(value: Json): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.keys(value).length !== 4) return false;
  const within = (name: string, least: number) => {
    const number = value[name];
    return Number.isInteger(number) && Number(number) >= least && Number(number) <= 100_000;
  };
  return within('x', -100_000) && within('y', -100_000) && within('width', 1) && within('height', 1);
}
