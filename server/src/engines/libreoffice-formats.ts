import type { FileTypeId } from '../lib/media-types.ts';

/** The part of LibreOffice that opens a document: each is a package of its own. */
export type OfficeModule = 'writer' | 'calc' | 'impress';

/** What LibreOffice can write here; which of them depends on the module that opened the document. */
export type OfficeFormat =
  | 'pdf'
  | 'png'
  | 'docx'
  | 'doc'
  | 'odt'
  | 'rtf'
  | 'txt'
  | 'html'
  | 'xlsx'
  | 'xls'
  | 'ods'
  | 'csv'
  | 'pptx'
  | 'ppt'
  | 'odp';

export const textFilter = 'Text (encoded)';
export const csvFilter = 'Text - txt - csv (StarCalc)';

interface ModuleFilters {
  /** The UNO service by which an opened document shows that it is of this module. */
  service: string;
  /** Import filters. Always named: left to itself LibreOffice reads a damaged document as plain text. */
  reads: Partial<Record<FileTypeId, string>>;
  writes: Partial<Record<OfficeFormat, string>>;
}

const modules: Record<OfficeModule, ModuleFilters> = {
  writer: {
    service: 'com.sun.star.text.TextDocument',
    reads: {
      docx: 'MS Word 2007 XML',
      encrypted_office: 'MS Word 2007 XML',
      doc: 'MS Word 97',
      odt: 'writer8',
      rtf: 'Rich Text Format',
      txt: textFilter,
    },
    writes: {
      pdf: 'writer_pdf_Export',
      png: 'writer_png_Export',
      docx: 'MS Word 2007 XML',
      doc: 'MS Word 97',
      odt: 'writer8',
      rtf: 'Rich Text Format',
      txt: textFilter,
      html: 'HTML (StarWriter)',
    },
  },
  calc: {
    service: 'com.sun.star.sheet.SpreadsheetDocument',
    reads: {
      xlsx: 'Calc MS Excel 2007 XML',
      encrypted_office: 'Calc MS Excel 2007 XML',
      xls: 'MS Excel 97',
      ods: 'calc8',
      csv: csvFilter,
    },
    writes: {
      pdf: 'calc_pdf_Export',
      png: 'calc_png_Export',
      xlsx: 'Calc MS Excel 2007 XML',
      xls: 'MS Excel 97',
      ods: 'calc8',
      csv: csvFilter,
      html: 'HTML (StarCalc)',
    },
  },
  impress: {
    service: 'com.sun.star.presentation.PresentationDocument',
    reads: {
      pptx: 'Impress MS PowerPoint 2007 XML',
      encrypted_office: 'Impress MS PowerPoint 2007 XML',
      ppt: 'MS PowerPoint 97',
      odp: 'impress8',
    },
    writes: {
      pdf: 'impress_pdf_Export',
      png: 'impress_png_Export',
      pptx: 'Impress MS PowerPoint 2007 XML',
      ppt: 'MS PowerPoint 97',
      odp: 'impress8',
    },
  },
};

/** The module that opens a format when the caller does not say; a locked file could be of several. */
export function moduleFor(type: FileTypeId): OfficeModule | undefined {
  return (Object.keys(modules) as OfficeModule[]).find((module) => modules[module].reads[type] !== undefined);
}

export function importFilter(module: OfficeModule, type: FileTypeId): string | undefined {
  return modules[module].reads[type];
}

/** Reads what the filter of today does not: documents of Word 6 and 95, which have the same ending and frame. */
export function olderImportFilter(type: FileTypeId): string | undefined {
  return type === 'doc' ? 'MS WinWord 6.0' : undefined;
}

export function exportFilter(module: OfficeModule, format: OfficeFormat): string | undefined {
  return modules[module].writes[format];
}

export function documentService(module: OfficeModule): string {
  return modules[module].service;
}

const factories: Record<OfficeModule, string> = {
  writer: 'swriter',
  calc: 'scalc',
  impress: 'simpress',
};

/** What the macro `Warm` needs to write a document of a module, to read it again and to write it as PDF. */
export function warmFilters(module: OfficeModule): Record<string, string> {
  const { writes } = modules[module];
  return {
    factory: `private:factory/${factories[module]}`,
    filter: writes.docx ?? writes.xlsx ?? writes.pptx ?? '',
    pdf_filter: writes.pdf ?? '',
  };
}
