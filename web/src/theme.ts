import { createTheme, DEFAULT_THEME, type MantineColorsTuple } from '@mantine/core';

/** The house's green: shade 8 on white and shade 4 on the dark ground both reach AA for text. */
const mill: MantineColorsTuple = [
  '#e8f7f5',
  '#d3ece9',
  '#a6d9d4',
  '#75c5be',
  '#4fb5ac',
  '#37aba1',
  '#279d93',
  '#12827a',
  '#0b6e69',
  '#045752',
];

/** Shade 7, the ground of buttons in the dark, is too light for white text. */
const red = DEFAULT_THEME.colors.red.with(7, DEFAULT_THEME.colors.red[8]) as unknown as MantineColorsTuple;

export const theme = createTheme({
  colors: { mill, red },
  primaryColor: 'mill',
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  components: {
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
        // Its <header> is no second banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
    },
  },
});
