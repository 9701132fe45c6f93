import { expect, test } from 'vitest';
import { brokenPromise, type ProbeFacts } from './self-test.ts';

const good: ProbeFacts = {
  hiddenDirectory: undefined,
  users: 0,
  interfaces: ['lo'],
  connected: false,
  openedKernelSettings: false,
  wroteUsr: false,
  wroteReadOnly: false,
  wroteWritable: true,
  wroteTemporary: true,
  processes: 3,
  status: { uid: '65534', noNewPrivileges: '1', seccomp: '2', effective: '0'.repeat(16), bounding: '0'.repeat(16) },
};

test('a sandbox that keeps every promise passes', () => {
  expect(brokenPromise(good, 'bubblewrap', '1:2')).toBeUndefined();
  expect(brokenPromise({ ...good, status: { ...good.status, seccomp: '0' } }, 'unshare', '1:2')).toBeUndefined();
  expect(brokenPromise({ ...good, hiddenDirectory: '9:9' }, 'bubblewrap', '1:2')).toBeUndefined();
});

test.each<[Partial<ProbeFacts> | Partial<ProbeFacts['status']>, RegExp]>([
  [{ hiddenDirectory: '1:2' }, /data directory/],
  [{ users: 20 }, /users/],
  [{ interfaces: ['lo', 'eth0'] }, /network.*eth0/],
  [{ connected: true }, /connection/],
  [{ openedKernelSettings: true }, /kernel/],
  [{ wroteUsr: true }, /\/usr/],
  [{ wroteReadOnly: true }, /read-only/],
  [{ wroteWritable: false }, /work directory/],
  [{ wroteTemporary: false }, /temporary/],
  [{ processes: 80 }, /processes/],
  [{ uid: '0' }, /user/],
  [{ noNewPrivileges: '0' }, /gain privileges/],
  [{ effective: '000001fffeffffff' }, /capabilities/],
  [{ bounding: '000001fffeffffff' }, /capabilities/],
  [{ seccomp: '0' }, /System calls/],
])('%o is a broken promise', (change, reason) => {
  const facts = { ...good, ...change, status: { ...good.status, ...change } };
  expect(brokenPromise(facts, 'bubblewrap', '1:2')).toMatch(reason);
});
