import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, link, mkdir, mkdtemp, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { crc32, zstdCompressSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool, type ToolRun } from '../../../test/run-tool.ts';
import { sniffFile } from '../../files/sniff.ts';
import archiveConverter from './archive-converter.ts';
import archiveExtractor from './archive-extractor.ts';
import archiveInspector from './archive-inspector.ts';
import gzipCompressor from './gzip-compressor.ts';

const samples = join(import.meta.dirname, '../../../test/fixtures/samples');
const rows = 'a,b\n1,2\n'.repeat(5000);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  const tree = join(directory, 'tree');
  await mkdir(join(tree, 'docs/empty'), { recursive: true });
  await writeFile(join(tree, 'docs/grüße.txt'), 'hello');
  await writeFile(join(tree, 'rows.csv'), rows);
  await writeFile(join(tree, 'nothing.txt'), '');
  for (const name of ['docs/grüße.txt', 'rows.csv']) await utimes(join(tree, name), 1_600_000_000, 1_600_000_000);
  const make = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: tree, stdio: 'ignore' });
  make('7zz', 'a', '../a.zip', '.');
  make('7zz', 'a', '../a.7z', '.');
  make('7zz', 'a', '-psecret', '-mhe=on', '../hidden.7z', '.');
  make('7zz', 'a', '-psecret', '-mem=AES256', '../aes.zip', '.');
  make('7zz', 'a', '-psecret', '-mem=ZipCrypto', '../old.zip', '.');
  for (const extension of ['tar', 'tar.gz', 'tar.bz2', 'tar.xz', 'tar.zst'])
    make('tar', '-caf', `../a.${extension}`, '.');
  await symlink('rows.csv', join(tree, 'link'));
  make('tar', '-cf', '../links.tar', '.');
  await writeFile(join(directory, 'plain.csv.gz'), execFileSync('gzip', ['-c', join(tree, 'rows.csv')]));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const archive = (name: string) => join(directory, name);
const names = (run: ToolRun) => run.outputs.map(({ filename }) => filename).toSorted();

describe('archive-extractor', () => {
  test.each(['a.zip', 'a.7z', 'a.tar', 'a.tar.gz', 'a.tar.bz2', 'a.tar.xz', 'a.tar.zst'])(
    'unpacks %s',
    async (name) => {
      await using run = await runTool(archiveExtractor, [archive(name)]);
      expect(names(run)).toEqual(['docs_grüße.txt', 'rows.csv']);
      const table = run.outputs.find(({ filename }) => filename === 'rows.csv');
      expect(await readFile(table!.path, 'utf8')).toBe(rows);
    },
  );

  test('unpacks every frame of a Zstandard file', async () => {
    await writeFile(
      archive('frames.txt.zst'),
      Buffer.concat(['hello ', 'world'].map((text) => zstdCompressSync(text))),
    );
    await using run = await runTool(archiveExtractor, [archive('frames.txt.zst')]);
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe('hello world');
  });

  test('unpacks a ZIP with an unusual method', async () => {
    execFileSync('7zz', ['a', '-mm=bzip2', archive('bzip2.zip'), join(directory, 'tree/rows.csv')], {
      stdio: 'ignore',
    });
    await using run = await runTool(archiveExtractor, [archive('bzip2.zip')]);
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe(rows);
  });

  test.each([
    ['continued in the next part', 0x02, 'is one part of an archive in several parts, which cannot be opened here.'],
    ['encrypted', 0x04, 'needs a password.'],
  ])('says so when a RAR 4 member is %s', async (_case, flags, reason) => {
    const member = Buffer.alloc(40);
    member.set([0x74, flags, 0x80, member.length], 2);
    const main = Buffer.from('cf907300000d00000000000000', 'hex');
    await writeFile(archive('old.rar'), Buffer.concat([Buffer.from('Rar!\x1a\x07\x00', 'latin1'), main, member]));
    await expect(runTool(archiveExtractor, [archive('old.rar')])).rejects.toThrow(`"old.rar" ${reason}`);
  });

  test.each(['rar.rar', 'iso.iso', 'cab.cab'])('unpacks %s', async (name) => {
    await using run = await runTool(archiveExtractor, [join(samples, name)], { flatten: 'true' });
    expect(names(run)).toEqual(['read-me.txt', 'rows.csv', 'scene.svg']);
  });

  test('refuses a RAR whose content lies in it uncompressed, and damaged', async () => {
    const damaged = await readFile(join(samples, 'rar.rar'));
    damaged.write('L', damaged.indexOf('linearGradient'));
    await writeFile(archive('damaged.rar'), damaged);
    const run = runTool(archiveExtractor, [archive('damaged.rar')]);
    await expect(run).rejects.toMatchObject({ code: 'invalid_input', file: 'damaged.rar' });
  });

  test.each(['hidden.7z', 'aes.zip', 'old.zip'])('opens %s with its password only', async (name) => {
    await using run = await runTool(archiveExtractor, [archive(name)], { password: 'secret' });
    expect(names(run)).toEqual(['docs_grüße.txt', 'rows.csv']);
    expect(await readFile(run.outputs.find(({ filename }) => filename === 'rows.csv')!.path, 'utf8')).toBe(rows);
    for (const form of [{}, { password: 'wrong' }] as Record<string, string>[]) {
      await expect(runTool(archiveExtractor, [archive(name)], form)).rejects.toMatchObject({
        code: 'password_required',
      });
    }
  });

  test('unpacks what is a single compressed file', async () => {
    await using run = await runTool(archiveExtractor, [archive('plain.csv.gz')]);
    expect(names(run)).toEqual(['plain.csv']);
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe(rows);
  });

  test('takes only what matches, and says when nothing does', async () => {
    await using run = await runTool(archiveExtractor, [archive('a.zip')], { include: '**/*.txt' });
    expect(names(run)).toEqual(['docs_grüße.txt']);
    const none = runTool(archiveExtractor, [archive('a.zip')], { include: '*.pdf' });
    await expect(none).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('leaves links out', async () => {
    await using run = await runTool(archiveExtractor, [archive('links.tar')]);
    expect(names(run)).toEqual(['docs_grüße.txt', 'rows.csv']);
  });

  test('refuses members that want to be outside', async () => {
    const script =
      'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],"w")\nz.writestr("../../evil.txt","x")\nz.close()';
    execFileSync('python3', ['-c', script, archive('slip.zip')]);
    execFileSync('tar', [
      '-cPf',
      archive('slip.tar'),
      '--transform',
      's,^,../,',
      '-C',
      join(directory, 'tree'),
      'rows.csv',
    ]);
    for (const name of ['slip.zip', 'slip.tar']) {
      await expect(runTool(archiveExtractor, [archive(name)])).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('wants to be outside: "../') as string,
      });
    }
  });

  test('refuses bombs: too high a ratio, too many files', async () => {
    await writeFile(archive('zeros'), Buffer.alloc(40_000_000));
    execFileSync('gzip', ['-k', archive('zeros')]);
    const bomb = runTool(archiveExtractor, [archive('zeros.gz')]);
    await expect(bomb).rejects.toMatchObject({ code: 'resource_limit' });
    await using run = await runTool(archiveExtractor, [archive('zeros.gz')], { max_ratio: '2000' });
    expect(run.outputs[0]?.sizeBytes).toBe(40_000_000);
    const many = runTool(archiveExtractor, [archive('a.zip')], { max_files: '1' });
    await expect(many).rejects.toMatchObject({ code: 'resource_limit' });
  });

  test.each(['a.zip', 'a.7z', 'a.tar', 'a.tar.gz', 'a.tar.xz', 'a.tar.bz2', 'a.tar.zst'])(
    'says that half of %s is damaged',
    async (name) => {
      const bytes = await readFile(archive(name));
      const half = archive(`half-${name}`);
      await writeFile(half, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
      await expect(runTool(archiveExtractor, [half])).rejects.toMatchObject({
        code: 'invalid_input',
        file: basename(half),
      });
    },
  );
});

describe('archives as other programs write them', () => {
  const pack = (name: string, ...args: string[]) =>
    execFileSync('7zz', ['a', ...args, archive(name), 'rows.csv', 'docs'], {
      cwd: join(directory, 'tree'),
      stdio: 'ignore',
    });
  const contentOf = (run: ToolRun, name: string) =>
    readFile(run.outputs.find(({ filename }) => filename === name)?.path ?? '', 'utf8');

  test.each([
    ['before', readFileSync('/bin/true'), Buffer.alloc(0)],
    ['behind', Buffer.alloc(0), Buffer.from('bytes of another program')],
  ])('a ZIP with bytes %s it', async (place, before, behind) => {
    const name = `bytes-${place}.zip`;
    await writeFile(archive(name), Buffer.concat([before, await readFile(archive('a.zip')), behind]));
    expect(await sniffFile(archive(name))).toBe('zip');
    await using run = await runTool(archiveExtractor, [archive(name)]);
    expect(await contentOf(run, 'rows.csv')).toBe(rows);
    await using report = await runTool(archiveInspector, [archive(name)]);
    expect(await readFile(report.outputs[0]!.path, 'utf8')).toContain('rows.csv');
  });

  test.each([
    ['deflate64.zip', ['-mm=Deflate64']],
    ['ppmd.zip', ['-mm=PPMd']],
    ['arm64.7z', ['-m0=ARM64', '-m1=LZMA2']],
    ['deflate64.7z', ['-m0=Deflate64']],
  ])('%s with an unusual method', async (name, args) => {
    pack(name, ...args);
    await using run = await runTool(archiveExtractor, [archive(name)]);
    expect(names(run)).toEqual(['docs_grüße.txt', 'rows.csv']);
    expect(await contentOf(run, 'rows.csv')).toBe(rows);
  });

  test.each([
    ['lzma-aes.zip', ['-mm=LZMA', '-mem=AES256']],
    ['bzip2-old.zip', ['-mm=BZip2', '-mem=ZipCrypto']],
    ['names-shown.7z', []],
  ])('%s opens with its password, and asks for it', async (name, args) => {
    pack(name, '-psecret', ...args);
    await using run = await runTool(archiveExtractor, [archive(name)], { password: 'secret' });
    expect(await contentOf(run, 'rows.csv')).toBe(rows);
    for (const form of [{}, { password: 'wrong' }] as Record<string, string>[]) {
      await expect(runTool(archiveExtractor, [archive(name)], form)).rejects.toMatchObject({
        code: 'password_required',
      });
    }
  });

  test.each([
    ['gnu', ['--format=gnu']],
    ['pax-0.0', ['--format=posix', '--sparse-version=0.0']],
    ['pax-1.0', ['--format=posix', '--sparse-version=1.0']],
  ])('a TAR with a sparse file, %s', async (name, args) => {
    const sparse = await mkdtemp(join(directory, 'sparse-'));
    await writeFile(join(sparse, 'first.txt'), 'first');
    await writeFile(join(sparse, 'sparse.txt'), '');
    await truncate(join(sparse, 'sparse.txt'), 1_000_000);
    await appendFile(join(sparse, 'sparse.txt'), 'end');
    const path = archive(`${name}.tar`);
    execFileSync('tar', ['--sparse', ...args, '-cf', path, 'first.txt', 'sparse.txt'], { cwd: sparse });
    await using run = await runTool(archiveExtractor, [path]);
    expect(run.outputs.map(({ filename, sizeBytes }) => [filename, sizeBytes])).toEqual([
      ['first.txt', 5],
      ['sparse.txt', 1_000_003],
    ]);
  });

  test.each(['two-names.tar', 'two-names.tar.gz'])('each name of a file in %s gets its content', async (name) => {
    const linked = await mkdtemp(join(directory, 'linked-'));
    await writeFile(join(linked, 'one.csv'), rows);
    for (const other of ['two.csv', 'three.csv']) await link(join(linked, 'one.csv'), join(linked, other));
    execFileSync('tar', ['-caf', archive(name), 'one.csv', 'two.csv', 'three.csv'], { cwd: linked });
    await using run = await runTool(archiveExtractor, [archive(name)]);
    expect(names(run)).toEqual(['one.csv', 'three.csv', 'two.csv']);
    for (const file of names(run)) expect(await contentOf(run, file)).toBe(rows);
  });

  test('a hard link that states the size of its file, and a TAR of the oldest format', async () => {
    const script = `
import io, sys, tarfile
tar = tarfile.open(sys.argv[1], 'w', format=tarfile.USTAR_FORMAT)
for name, kind in (('one.txt', tarfile.REGTYPE), ('two.txt', tarfile.LNKTYPE), ('three.txt', tarfile.REGTYPE)):
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, 5, 'one.txt' if kind == tarfile.LNKTYPE else ''
    header = member.tobuf(tarfile.USTAR_FORMAT)
    tar.fileobj.write(header + (name[:5].encode().ljust(512, b'\\0') if kind == tarfile.REGTYPE else b''))
    tar.offset = tar.fileobj.tell()
tar.close()`;
    execFileSync('python3', ['-c', script, archive('sized-link.tar')]);
    await using run = await runTool(archiveExtractor, [archive('sized-link.tar')]);
    expect(names(run)).toEqual(['one.txt', 'three.txt', 'two.txt']);
    expect(await contentOf(run, 'two.txt')).toBe('one.t');
    execFileSync('tar', ['--format=v7', '-cf', archive('v7.tar'), 'rows.csv'], { cwd: join(directory, 'tree') });
    await using old = await runTool(archiveExtractor, [archive('v7.tar')]);
    expect(await contentOf(old, 'rows.csv')).toBe(rows);
  });

  test.each([
    ['UTF-8', Buffer.from('grüße.txt'), 'grüße.txt'],
    ['Shift-JIS', Buffer.from('93fa967b8cea2e747874', 'hex'), '日本語.txt'],
    ['code page 437', Buffer.from('636883746561752e747874', 'hex'), 'château.txt'],
  ])('names in %s that say nothing of it', async (encoding, name, shown) => {
    const placeholder = 'x'.repeat(name.length);
    const script = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr(sys.argv[2], "text")';
    const path = archive(`${encoding}.zip`);
    execFileSync('python3', ['-c', script, path, placeholder]);
    const zip = (await readFile(path)).toString('latin1').replaceAll(placeholder, name.toString('latin1'));
    await writeFile(path, Buffer.from(zip, 'latin1'));
    await using run = await runTool(archiveExtractor, [path]);
    expect(names(run)).toEqual([shown]);
  });
});

describe('archives made to cost much more than their size', () => {
  const run = (path: string) => runTool(archiveExtractor, [path], {}, AbortSignal.timeout(50_000));

  /** A TAR of one file, and many hard links to a path. */
  const linksTo = (target: string, count: number) => {
    const script = `
import sys, tarfile
path, target, count = sys.argv[1:]
with tarfile.open(path, 'w') as tar:
    file, link = tarfile.TarInfo('one'), tarfile.TarInfo('two')
    file.size, link.type, link.linkname = 3, tarfile.LNKTYPE, target
    with open('/dev/zero', 'rb') as zeros: tar.addfile(file, zeros)
    tar.fileobj.write(link.tobuf() * int(count))
    tar.offset = tar.fileobj.tell()`;
    const path = archive(`${target}-links.tar`);
    execFileSync('python3', ['-c', script, path, target, String(count)]);
    return path;
  };

  test('a TAR of more hard links than files may be', async () => {
    await expect(run(linksTo('one', 60_000))).rejects.toThrow('holds more than 10000 files');
  });

  test('a TAR of hard links to nothing', async () => {
    await using unpacked = await run(linksTo('nothing', 4000));
    expect(names(unpacked)).toEqual(['one']);
  });

  test('a ZIP of too many entries behind a program', async () => {
    const end = Buffer.alloc(22);
    const entries = Array.from({ length: 60_000 }, (_, index) => {
      const entry = Buffer.alloc(51, String(index).padStart(5, '0'));
      return entry.fill(0, 0, 46).fill('PK\x01\x02', 0, 4).fill(5, 28, 29);
    });
    end.write('PK\x05\x06', 'latin1');
    end.writeUInt16LE(entries.length, 10);
    end.writeUInt32LE(entries.length * 51, 12);
    end.writeUInt32LE(30, 16);
    const first = Buffer.alloc(30).fill('PK\x03\x04', 0, 4);
    await writeFile(archive('entries.zip'), Buffer.concat([Buffer.alloc(1000, 'MZ'), first, ...entries, end]));
    await expect(run(archive('entries.zip'))).rejects.toThrow('holds more than 10000 files');
  });

  test('a RAR of too many blocks', async () => {
    const block = Buffer.from('00007a00000700', 'hex');
    const blocks = Buffer.alloc(1_000_000 * block.length, block);
    await writeFile(archive('blocks.rar'), Buffer.concat([Buffer.from('Rar!\x1a\x07\x00', 'latin1'), blocks]));
    await expect(run(archive('blocks.rar'))).rejects.toMatchObject({ code: 'resource_limit', file: 'blocks.rar' });
  });

  test('a ZIP with the signature of its last record in its comment', async () => {
    const comment = Buffer.from('PK\x05\x06'.repeat(16_000), 'latin1');
    const zip = await readFile(archive('a.zip'));
    zip.writeUInt16LE(comment.length, zip.length - 2);
    await writeFile(archive('comment.zip'), Buffer.concat([zip, comment]));
    await using unpacked = await run(archive('comment.zip'));
    expect(names(unpacked)).toEqual(['docs_grüße.txt', 'rows.csv']);
  });
});

describe('names of a ZIP that does not say how they are encoded', () => {
  test.each([
    ['cp866', 'Отчёт за 2020.txt'],
    ['gbk', '新建文件夹.txt'],
    ['euc-kr', '한글파일이름.txt'],
    ['shift_jis', '一覧表.txt'],
    ['cp437', 'Größe ÄÖÜ résumé.txt'],
  ])('%s', async (encoding, name) => {
    const bytes = iconv.encode(name, encoding);
    const path = archive(`${encoding}.zip`);
    await writeFile(path, storedZip(bytes));
    await using run = await runTool(archiveExtractor, [path]);
    expect(names(run)).toEqual([name]);
  });

  function storedZip(name: Buffer): Buffer {
    const content = Buffer.from('hello');
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, content]);
    const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, Buffer.alloc(14), name]);
    const end = Buffer.alloc(22);
    end.write('PK\x05\x06', 'latin1');
    end.writeUInt16LE(1, 8);
    end.writeUInt16LE(1, 10);
    end.writeUInt32LE(entry.length, 12);
    end.writeUInt32LE(local.length, 16);
    return Buffer.concat([local, entry, end]);
  }
});

test.each([
  ['solid', 0x10, 29],
  ['of RAR 2', 0, 20],
])('a RAR that is %s is not called damaged', async (_kind, flags, version) => {
  const main = Buffer.from('00007300000d00000000000000', 'hex');
  const member = Buffer.alloc(32 + 5);
  member.writeUInt8(0x74, 2);
  member.writeUInt16LE(0x8000 | flags, 3);
  member.writeUInt16LE(32 + 5, 5);
  member.writeUInt8(version, 24);
  member.writeUInt8(0x33, 25);
  member.writeUInt16LE(5, 26);
  member.write('a.txt', 32);
  const path = archive('old.rar');
  await writeFile(path, Buffer.concat([Buffer.from('Rar!\x1a\x07\x00', 'latin1'), main, member]));
  await expect(runTool(archiveExtractor, [path])).rejects.toMatchObject({
    code: 'invalid_input',
    message: '"old.rar" is a RAR archive of an old or solid kind, which cannot be opened here.',
  });
});

test('a 7z with a filter for another processor', async () => {
  execFileSync('7zz', ['a', '-m0=PPC', '-m1=Deflate', '../ppc.7z', 'rows.csv'], {
    cwd: join(directory, 'tree'),
    stdio: 'ignore',
  });
  await using run = await runTool(archiveExtractor, [archive('ppc.7z')]);
  expect(names(run)).toEqual(['rows.csv']);
});

describe('archive-converter', () => {
  test.each(['zip', 'tar', 'tar.gz', 'tar.xz', 'tar.zst', '7z'])(
    'writes %s with directories and times',
    async (format) => {
      await using run = await runTool(archiveConverter, [archive('a.tar.gz')], { format });
      expect(run.outputs[0]?.filename).toBe(`a.${format}`);
      const unpacked = join(directory, `out-${format}`);
      await mkdir(unpacked);
      execFileSync('bsdtar', ['-xf', run.outputs[0]!.path, '-C', unpacked]);
      expect(await readFile(join(unpacked, 'docs/grüße.txt'), 'utf8')).toBe('hello');
      const listed = execFileSync('find', ['.', '-printf', '%P %y %T@\n'], { cwd: unpacked, encoding: 'utf8' });
      expect(listed).toContain('docs/empty d');
      if (format !== '7z') expect(listed).toMatch(/^rows\.csv f 1600000000/m);
    },
  );

  test('encrypts and refuses what it cannot carry over', async () => {
    await using run = await runTool(archiveConverter, [archive('aes.zip')], {
      format: '7z',
      password: 'secret',
      new_password: 'other',
    });
    execFileSync('7zz', ['t', '-pother', run.outputs[0]!.path]);
    const links = runTool(archiveConverter, [archive('links.tar')], { format: 'zip' });
    await expect(links).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(runTool(archiveConverter, [archive('a.zip')], { format: 'tar', new_password: 'x' })).rejects.toThrow(
      'new_password',
    );
  });
});

test.each(['a.zip', 'a.7z', 'a.tar.gz'])('archive-inspector lists %s', async (name) => {
  await using run = await runTool(archiveInspector, [archive(name)]);
  const report = JSON.parse(await readFile(run.outputs[0]!.path, 'utf8')) as { files: number; entries: unknown[] };
  expect(report).toMatchObject({ files: 3, encrypted: false, unpacked_bytes: rows.length + 5 });
  expect(report.entries).toContainEqual(expect.objectContaining({ path: 'rows.csv', size_bytes: rows.length }));
});

test('archive-inspector lists an encrypted ZIP without its password', async () => {
  await using run = await runTool(archiveInspector, [archive('aes.zip')]);
  expect(await readFile(run.outputs[0]!.path, 'utf8')).toContain('"encrypted": true');
});

test.each([
  ['gz', ['gzip', '-dc'], '9'],
  ['zst', ['zstd', '-dc'], '19'],
  ['xz', ['xz', '-dc'], '1'],
])('gzip-compressor writes %s', async (format, [program = '', ...args], level) => {
  await using run = await runTool(gzipCompressor, [join(directory, 'tree/rows.csv')], { format, level });
  expect(run.outputs[0]?.filename).toBe(`rows.csv.${format}`);
  expect(execFileSync(program, [...args, run.outputs[0]!.path], { encoding: 'utf8' })).toBe(rows);
});

test('gzip-compressor writes Brotli, and knows how far each format goes', async () => {
  const path = join(directory, 'tree/rows.csv');
  await using run = await runTool(gzipCompressor, [path], { format: 'br', level: '11' });
  expect(run.outputs[0]!.sizeBytes).toBeLessThan(200);
  await expect(runTool(gzipCompressor, [path], { format: 'gz', level: '10' })).rejects.toThrow('goes to 9');
});
