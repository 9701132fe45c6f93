import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createDiskStore } from '../src/files/disk.ts';

/**
 * Stores 2 MB where only less than 1 MB can be written, and prints what the store made of it: for `disk.test.ts`, which
 * starts this under a limit for the size of files. Arguments: the root of the store, and a file to publish.
 */
const [root = '', produced = ''] = process.argv.slice(2);
const store = createDiskStore({ root });
const told = ({ status, code }: { status: number; code: string }) => ({ status, code });

const twoMegabytes = Readable.from(Array.from({ length: 32 }, () => Buffer.alloc(65_536, 1)));
const put = await store.put(`runs/${randomUUID()}/in/0`, twoMegabytes).catch(told);
const publish = await store.publish(produced, `runs/${randomUUID()}/out/1/0`).catch(told);
const small = await store.put(`runs/${randomUUID()}/in/0`, Readable.from([Buffer.from('x')]));
const left = await readdir(root, { recursive: true, withFileTypes: true });
const filesLeft = left.filter((entry) => entry.isFile()).length;
process.stdout.write(JSON.stringify({ put, publish, small, filesLeft, destroyed: twoMegabytes.destroyed }));
