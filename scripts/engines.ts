/**
 * `npm run engines`: installs the programs of Debian that tools use, and says what each is for. Idempotent. Needs root (or
 * sudo without a password); otherwise prints the line for somebody who has it, and exits 1.
 */
import { spawnSync } from 'node:child_process';

/** Package to purpose. */
const packages: Record<string, string> = {
  bubblewrap: 'the sandbox',
  qpdf: 'PDF tools: damaged, encrypted and web-optimised files',
  ghostscript: 'PDF tools: grey, PDF/A',
  'poppler-utils': 'PDF tools: images, attachments, HTML',
  'tesseract-ocr': 'text recognition',
  'tesseract-ocr-eng': 'text recognition in English; tesseract-ocr-deu, -fra, … add languages',
  'libreoffice-writer-nogui': 'text documents',
  'libreoffice-calc-nogui': 'spreadsheets',
  'libreoffice-impress-nogui': 'presentations',
  'libreoffice-math-nogui': 'formulas in documents',
  pandoc: 'document-converter: Markdown, LaTeX, reStructuredText, EPUB',
  'chromium-headless-shell': 'HTML, Markdown, e-mail and web pages to PDF and images',
  'fonts-liberation2': 'metric twins of Arial, Times and Courier for documents',
  'fonts-dejavu-core': 'a font with wide coverage',
  'fonts-crosextra-carlito': 'metric twin of Calibri',
  'fonts-crosextra-caladea': 'metric twin of Cambria',
  'fonts-noto-core': 'the letters of most scripts',
  'fonts-noto-color-emoji': 'emoji',
  'fonts-noto-cjk': 'Chinese, Japanese and Korean',
  ffmpeg: 'video, audio and subtitle tools',
  'libheif-examples': 'image tools: writing HEIC',
  'libraw-bin': 'image tools: camera raw photos',
  'librsvg2-bin': 'svg-rasterizer: PDF',
  gifsicle: 'gif-optimizer',
  'libimage-exiftool-perl': 'metadata-viewer and metadata-remover',
  '7zip': 'archive tools: 7z, XZ, ISO, CAB',
  'libarchive-tools': 'archive tools: RAR',
  'fontforge-nox': 'font-converter: TTF to OTF and back, SVG fonts',
  gnupg: 'file-encryptor and file-decryptor: OpenPGP',
  calibre: 'ebook-converter and ebook-metadata-editor',
  epubcheck: 'epub-validator',
};

/** Further programs only the tests need: second opinions on our outputs. */
const testPackages: Record<string, string> = {
  imagemagick: 'opens pictures',
  fontconfig: 'reads fonts',
  'libxml2-utils': 'checks XML',
  bzip2: 'checks bzip2 files',
  mediainfo: 'reads video and audio',
  openssl: 'checks signatures',
  patch: 'applies patches',
  'tesseract-ocr-deu': 'a second language for text recognition',
  unzip: 'checks ZIP archives',
  'xz-utils': 'checks XZ archives',
  zstd: 'checks Zstandard archives',
  chromium: 'opens the account page',
};

function isInstalled(name: string): boolean {
  const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' });
  return status === 0 && stdout === 'installed';
}

function asRoot(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}

function run(command: string[]): boolean {
  const [program = '', ...args] = command;
  console.log(`> ${command.join(' ')}`);
  return (
    spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status === 0
  );
}

const wanted = process.argv.includes('--for-tests') ? { ...packages, ...testPackages } : packages;
const missing = Object.keys(wanted).filter((name) => !isInstalled(name));
for (const [name, purpose] of Object.entries(wanted)) {
  console.log(`${missing.includes(name) ? 'missing  ' : 'installed'}  ${name.padEnd(26)} ${purpose}`);
}
if (missing.length === 0) process.exit(0);

const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
const prefix = asRoot();
const hasApt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
if (prefix === undefined || !hasApt) {
  console.log(`\nThis needs root and apt. The line for somebody who has them:\n  ${install.join(' ')}`);
  process.exit(1);
}
const done = run([...prefix, 'apt-get', 'update', '-qq']) && run([...prefix, ...install]);
process.exit(done ? 0 : 1);
