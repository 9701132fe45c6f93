/**
 * Runs inside a sandbox under test, tries what must not work and sends what it found. Arguments: the path of the hidden
 * directory, a port on the host's loopback, a writable directory.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { ProbeFacts } from './self-test.ts';

const [hiddenDirectory = '', port = '', writableDirectory = ''] = process.argv.slice(2);

const facts: ProbeFacts = {
  hiddenDirectory: attempt(() => identityOf(hiddenDirectory)),
  users: attempt(() => readFileSync('/etc/passwd', 'utf8').split('\n').filter(Boolean).length) ?? 0,
  interfaces: readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []),
  connected: await canConnect(Number(port)),
  openedKernelSettings: canOpenForWriting('/proc/sys/kernel/core_pattern'),
  wroteUsr: canWriteFile('/usr/.millrun-probe'),
  wroteReadOnly: canOpenForWriting(import.meta.filename),
  wroteWritable: canWriteFile(`${writableDirectory}/probe`),
  wroteTemporary: canWriteFile('/tmp/probe'),
  processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
  status: statusFields(readFileSync('/proc/self/status', 'utf8')),
};

// Stays behind, so that the end of this process shows whether everything ends.
spawn('/usr/bin/sleep', ['300'], { detached: true, stdio: 'ignore' }).unref();
process.send?.(facts, () => process.exit(0));

function identityOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}

function canConnect(toPort: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: toPort, timeout: 500 });
    const finish = (connected: boolean) => {
      socket.destroy();
      resolve(connected);
    };
    socket.once('connect', () => finish(true));
    socket.once('timeout', () => finish(false));
    socket.once('error', () => finish(false));
  });
}

function canOpenForWriting(path: string): boolean {
  return attempt(() => (closeSync(openSync(path, constants.O_WRONLY)), true)) ?? false;
}

function canWriteFile(path: string): boolean {
  return attempt(() => (writeFileSync(path, 'probe'), rmSync(path), true)) ?? false;
}

function statusFields(status: string): ProbeFacts['status'] {
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
  return {
    uid: field('Uid'),
    noNewPrivileges: field('NoNewPrivs'),
    seccomp: field('Seccomp'),
    effective: field('CapEff'),
    bounding: field('CapBnd'),
  };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
