import {
  IconBadgeCc,
  IconBook,
  IconFileText,
  IconFileTypePdf,
  IconFileWord,
  IconFileZip,
  IconMovie,
  IconMusic,
  IconPhoto,
  IconScan,
  IconTable,
  IconTool,
  IconTypography,
  type Icon,
} from '@tabler/icons-react';

interface Category {
  label: string;
  icon: Icon;
}

const known: Readonly<Record<string, Category>> = {
  image: { label: 'Image', icon: IconPhoto },
  pdf: { label: 'PDF', icon: IconFileTypePdf },
  document: { label: 'Document', icon: IconFileWord },
  video: { label: 'Video', icon: IconMovie },
  audio: { label: 'Audio', icon: IconMusic },
  archive: { label: 'Archive', icon: IconFileZip },
  data: { label: 'Data', icon: IconTable },
  text: { label: 'Text', icon: IconFileText },
  ocr: { label: 'OCR', icon: IconScan },
  font: { label: 'Font', icon: IconTypography },
  ebook: { label: 'E-book', icon: IconBook },
  subtitle: { label: 'Subtitle', icon: IconBadgeCc },
  utility: { label: 'Utility', icon: IconTool },
};

/** How a category is called; one that a newer server added is called as it calls itself. */
export function categoryOf(id: string): Category {
  return known[id] ?? { label: id.charAt(0).toUpperCase() + id.slice(1), icon: IconTool };
}
