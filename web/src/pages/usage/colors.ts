import { useComputedColorScheme, useMantineTheme } from '@mantine/core';
import { useCallback } from 'react';

/** Colour and shade on white and on the dark ground; neighbours in a stack differ in lightness too. */
const shades: Record<string, readonly [name: string, light: number, dark: number]> = {
  done: ['mill', 7, 5],
  failed: ['red', 8, 5],
  cancelled: ['gray', 6, 6],
  in: ['blue', 7, 4],
  out: ['mill', 7, 5],
  'tool-0': ['mill', 8, 5],
  'tool-1': ['blue', 6, 4],
  'tool-2': ['violet', 8, 5],
  'tool-3': ['orange', 7, 4],
  'tool-4': ['pink', 8, 6],
  'tool-5': ['lime', 8, 5],
  'tool-6': ['cyan', 8, 7],
  others: ['gray', 6, 6],
};

/** The colour of a series by its key, in the present colour scheme. */
export function useSeriesColors(): (key: string) => string {
  const { colors } = useMantineTheme();
  const scheme = useComputedColorScheme('light');
  return useCallback(
    (key) => {
      const [name, light, dark] = shades[key] ?? ['gray', 6, 6];
      return colors[name]?.[scheme === 'dark' ? dark : light] ?? '#868e96';
    },
    [colors, scheme],
  );
}
