import chartMaker from './chart-maker.ts';
import csvCleaner from './csv-cleaner.ts';
import csvMerger from './csv-merger.ts';
import csvProfiler from './csv-profiler.ts';
import csvSplitter from './csv-splitter.ts';
import csvToExcelConverter from './csv-to-excel-converter.ts';
import csvToJsonConverter from './csv-to-json-converter.ts';
import csvToParquetConverter from './csv-to-parquet-converter.ts';
import dataQueryRunner from './data-query-runner.ts';
import excelToCsvConverter from './excel-to-csv-converter.ts';
import jsonFormatter from './json-formatter.ts';
import jsonToCsvConverter from './json-to-csv-converter.ts';
import jsonToXmlConverter from './json-to-xml-converter.ts';
import jsonToYamlConverter from './json-to-yaml-converter.ts';
import jsonValidator from './json-validator.ts';
import parquetToCsvConverter from './parquet-to-csv-converter.ts';
import xmlFormatter from './xml-formatter.ts';
import xmlToJsonConverter from './xml-to-json-converter.ts';
import yamlToJsonConverter from './yaml-to-json-converter.ts';

/** In the order they are listed. */
export const dataTools = [
  csvToJsonConverter,
  jsonToCsvConverter,
  excelToCsvConverter,
  csvToExcelConverter,
  yamlToJsonConverter,
  jsonToYamlConverter,
  xmlToJsonConverter,
  jsonToXmlConverter,
  csvToParquetConverter,
  parquetToCsvConverter,
  jsonFormatter,
  jsonValidator,
  xmlFormatter,
  csvMerger,
  csvSplitter,
  csvCleaner,
  csvProfiler,
  dataQueryRunner,
  chartMaker,
];
