import { join } from 'node:path';
import { csvParse } from '../../engines/csv.ts';
import { aggregates, chartTypes, drawChart, vegaLite } from '../../engines/data/chart.ts';
import { loadTable } from '../../engines/data/database-tables.ts';
import { writeText } from '../../engines/data/source.ts';
import { duckDb, withDatabase } from '../../engines/duckdb.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { openSvg } from '../../engines/svg.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int, text } from '../settings.ts';
import { delimiterOf, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'chart-maker',
  name: 'Chart Maker',
  category: 'data',
  description: 'Draws a bar, line, pie or scatter chart of a table.',
  accepts: ['csv', 'tsv', 'json', 'ndjson'],
  produces: ['png', 'svg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [csvParse, duckDb, vegaLite, sharpEngine],
  settings: {
    type: choice({ describe: 'The kind of chart.', of: chartTypes, default: 'bar' }),
    x: text({
      describe: 'The column across; the first with text, or with numbers in a scatter chart, without it.',
      max: 200,
    }),
    y: text({ describe: 'The column of values; the first with numbers without it.', max: 200 }),
    aggregate: choice({
      describe: 'What becomes of several rows with the same x; a scatter chart shows each.',
      of: aggregates,
      default: 'sum',
    }),
    title: text({ describe: 'A title above the chart.', max: 200 }),
    width: int({ describe: 'Width of the picture in pixels.', min: 200, max: 4000, default: 1000 }),
    height: int({ describe: 'Height of the picture in pixels.', min: 150, max: 4000, default: 600 }),
    format: choice({ describe: 'The format to return.', of: ['png', 'svg'], default: 'png' }),
    delimiter: readDelimiter,
    encoding: readEncoding,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, signal, scratch } = context;
      const { format, encoding, delimiter, ...chart } = settings;
      const svg = await withDatabase({ scratch, signal, files: [input] }, async (database) => {
        await loadTable(database, { ...input, signal, encoding, delimiter: delimiterOf(delimiter) }, 'input');
        return await drawChart(database, { ...input, signal }, 'input', chart);
      });
      const target = context.output(`${input.stem}.${format}`);
      const drawing = format === 'svg' ? target : join(scratch, 'chart.svg');
      await writeText(drawing, [svg], signal);
      if (format === 'png') await (await openSvg(drawing, input)).png().toFile(target);
    }),
});
