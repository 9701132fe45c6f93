import { getDocument, GlobalWorkerOptions, type PDFDocumentLoadingTask } from 'pdfjs-dist';

/** The worker, character maps, the fourteen standard fonts and the decoders of scanned pages: files of ours with addresses. */
const addresses = byName(
  import.meta.glob<string>(
    [
      '../../../../node_modules/pdfjs-dist/build/pdf.worker.min.mjs',
      '../../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
      '../../../../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}',
      '../../../../node_modules/pdfjs-dist/wasm/{jbig2,openjpeg}.wasm',
    ],
    { query: '?url', import: 'default', eager: true },
  ),
);

GlobalWorkerOptions.workerSrc = addresses.get('pdf.worker.min.mjs') ?? '';

/** A page with more pixels than this takes more memory than a telephone gives a tab. */
const mostImagePixels = 100_000_000;

/** Reads what the worker asks for by name; built files have names that nobody can guess. */
class LocalFiles {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const address = addresses.get(filename);
    if (address === undefined) throw new Error(`PDF.js asked for ${filename}, which is not there`);
    const response = await fetch(address);
    if (!response.ok) throw new Error(`PDF.js could not load ${filename}`);
    return new Uint8Array(await response.arrayBuffer());
  }
}

/** Opens a PDF by its address and reads only the parts that are looked at. Nothing in it is run. */
export function openPdf(url: string): PDFDocumentLoadingTask {
  return getDocument({
    url,
    BinaryDataFactory: LocalFiles,
    useWorkerFetch: false,
    // Both are asked for by name through the factory; PDF.js wants to know that they exist.
    cMapUrl: 'cmaps/',
    standardFontDataUrl: 'fonts/',
    wasmUrl: 'wasm/',
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    maxImageSize: mostImagePixels,
  });
}

function byName(modules: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(modules).map(([path, address]) => [path.slice(path.lastIndexOf('/') + 1), address]));
}
