import { describe, expect, test } from 'vitest';
import { seccompFilter } from './seccomp.ts';

const allow = 0x7fff0000;
const notPermitted = 0x00050001;
const notImplemented = 0x00050026;
const killProcess = 0x80000000;

interface Call {
  architecture: number;
  number: number;
  args?: readonly number[];
}

/** What the kernel would answer: the few instructions of classic BPF that filters use, on one struct seccomp_data. */
function evaluate(program: Buffer, call: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.architecture, 4);
  call.args?.forEach((argument, index) => data.writeBigUInt64LE(BigInt(argument), 16 + index * 8));
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const operand = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) {
      accumulator = data.readUInt32LE(operand);
      continue;
    }
    const holds = { 0x15: accumulator === operand, 0x35: accumulator >= operand, 0x45: (accumulator & operand) !== 0 }[
      code
    ];
    if (holds === undefined) throw new Error(`instruction ${code}`);
    at += program.readUInt8(at * 8 + (holds ? 2 : 3));
  }
  throw new Error('the program ran past its end');
}

const platforms = [
  {
    name: 'x64',
    architecture: 0xc000003e,
    read: 0,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    clone: 56,
    ptrace: 101,
    mount: 165,
    unshare: 272,
    bpf: 321,
  },
  {
    name: 'arm64',
    architecture: 0xc00000b7,
    read: 63,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    clone: 220,
    ptrace: 117,
    mount: 40,
    unshare: 97,
    bpf: 280,
  },
];

describe.each(platforms)('the system call filter for $name', (platform) => {
  const program = seccompFilter(platform.name);
  const answer = (number: number, ...args: number[]) =>
    evaluate(program, { architecture: platform.architecture, number, args });

  test('fits what the kernel accepts', () => {
    expect(program.length % 8).toBe(0);
    expect(program.length / 8).toBeLessThan(4096);
  });

  test('allows ordinary calls', () => {
    expect(answer(platform.read)).toBe(allow);
    expect(answer(platform.clone, 0x3d0f00)).toBe(allow); // A thread.
    expect(answer(platform.clone, 0x01200011)).toBe(allow); // A fork.
    expect(answer(9999)).toBe(allow);
  });

  test('refuses calls nothing here needs', () => {
    for (const name of ['ptrace', 'mount', 'unshare', 'bpf'] as const)
      expect(answer(platform[name])).toBe(notPermitted);
    for (const number of [425, 428, 432]) expect(answer(number)).toBe(notPermitted);
  });

  test('refuses every kind of new namespace', () => {
    for (const bit of [17, 25, 26, 27, 28, 29, 30]) expect(answer(platform.clone, 2 ** bit + 17)).toBe(notPermitted);
    expect(answer(435)).toBe(notImplemented);
  });

  test('allows local sockets only', () => {
    for (const call of [platform.socket, platform.socketpair]) {
      expect(answer(call, 1)).toBe(allow);
      for (const family of [0, 2, 10, 16, 17, 38, 40]) expect(answer(call, family)).toBe(notPermitted);
      expect(answer(call, 2 ** 32 + 2)).toBe(notPermitted);
    }
  });

  test('refuses terminal input, also behind upper bits the kernel does not look at', () => {
    expect(answer(platform.ioctl, 0, 0x5401)).toBe(allow);
    expect(answer(platform.ioctl, 0, 0x5412)).toBe(notPermitted);
    expect(answer(platform.ioctl, 0, 2 ** 32 + 0x5412)).toBe(notPermitted);
    expect(answer(platform.ioctl, 0, 0x541c)).toBe(notPermitted);
  });

  test('ends programs that use another table of calls', () => {
    expect(evaluate(program, { architecture: 0x40000003, number: platform.read })).toBe(killProcess);
    expect(answer(0x40000000 + platform.read)).toBe(notPermitted);
  });
});

test('there is no filter for a processor whose numbers are not known', () => {
  expect(() => seccompFilter('riscv64')).toThrow('riscv64');
});
