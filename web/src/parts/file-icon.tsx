import {
  IconBadgeCc,
  IconBook,
  IconBraces,
  IconFile,
  IconFileSpreadsheet,
  IconFileText,
  IconFileTypePdf,
  IconFileWord,
  IconFileZip,
  IconMovie,
  IconMusic,
  IconPhoto,
  IconPresentation,
  IconTable,
  IconTypography,
  type Icon,
} from '@tabler/icons-react';
import type { FileKind } from './file-kind.ts';

const icons: Readonly<Record<FileKind, Icon>> = {
  image: IconPhoto,
  pdf: IconFileTypePdf,
  document: IconFileWord,
  spreadsheet: IconFileSpreadsheet,
  presentation: IconPresentation,
  table: IconTable,
  data: IconBraces,
  text: IconFileText,
  audio: IconMusic,
  video: IconMovie,
  subtitle: IconBadgeCc,
  archive: IconFileZip,
  font: IconTypography,
  ebook: IconBook,
  other: IconFile,
};

/** The picture of a kind of file; always beside a name, so it says nothing to a screen reader. */
export function FileIcon({ kind, size = 20 }: { kind: FileKind; size?: number }) {
  const Picture = icons[kind];
  return <Picture size={size} stroke={1.6} aria-hidden />;
}
