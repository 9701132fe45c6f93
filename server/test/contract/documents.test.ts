import { afterAll } from 'vitest';
import { serveWeb } from '../local-web.ts';
import { documentCases } from './cases/document.ts';
import { ebookCases } from './cases/ebook.ts';
import { pdfCases } from './cases/pdf.ts';
import { contract } from './contract.ts';

const web = await serveWeb((_request, response) =>
  response
    .setHeader('content-type', 'text/html')
    .end('<title>Mill</title><h1>The mill</h1><p style="height:400px">By the river.'),
);
afterAll(() => web[Symbol.asyncDispose]());

contract(
  { pdf: pdfCases, document: documentCases(`http://127.0.0.1:${web.port}/`), ebook: ebookCases },
  { MILLRUN_FETCH_ALLOW: '127.0.0.1' },
);
