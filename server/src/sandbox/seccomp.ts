/**
 * The system calls engines may make, as a classic BPF program for the kernel's seccomp filter. Everything is allowed but:
 * kernel interfaces no file conversion needs and exploits like, new namespaces, and sockets other than local ones.
 * Refused calls fail with EPERM, so that a program falls back instead of dying.
 */

export type FilterArchitecture = 'x64' | 'arm64';

interface SystemCalls {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number;
  clone: number;
  socket: number;
  socketpair: number;
  ioctl: number;
  denied: Record<string, number>;
}

/** Calls with the same number on every architecture: those added since Linux 5.0. */
const commonDenied = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
};

/** Numbers from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux. */
const systemCalls: Record<FilterArchitecture, SystemCalls> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    denied: {
      ...commonDenied,
      ptrace: 101,
      syslog: 103,
      uselib: 134,
      personality: 135,
      ustat: 136,
      sysfs: 139,
      vhangup: 153,
      modify_ldt: 154,
      pivot_root: 155,
      _sysctl: 156,
      adjtimex: 159,
      chroot: 161,
      acct: 163,
      settimeofday: 164,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      sethostname: 170,
      setdomainname: 171,
      iopl: 172,
      ioperm: 173,
      create_module: 174,
      init_module: 175,
      delete_module: 176,
      get_kernel_syms: 177,
      query_module: 178,
      quotactl: 179,
      nfsservctl: 180,
      lookup_dcookie: 212,
      clock_settime: 227,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      migrate_pages: 256,
      unshare: 272,
      move_pages: 279,
      perf_event_open: 298,
      fanotify_init: 300,
      fanotify_mark: 301,
      name_to_handle_at: 303,
      open_by_handle_at: 304,
      clock_adjtime: 305,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    denied: {
      ...commonDenied,
      lookup_dcookie: 18,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      nfsservctl: 42,
      chroot: 51,
      vhangup: 58,
      quotactl: 60,
      acct: 89,
      personality: 92,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      clock_settime: 112,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      sethostname: 161,
      setdomainname: 162,
      settimeofday: 170,
      adjtimex: 171,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      migrate_pages: 238,
      move_pages: 239,
      perf_event_open: 241,
      unshare: 97,
      fanotify_init: 262,
      fanotify_mark: 263,
      name_to_handle_at: 264,
      open_by_handle_at: 265,
      clock_adjtime: 266,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
};

const clone3 = 435;
/** CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET of linux/sched.h. */
const newNamespaces = 0x7e020000;
const afUnix = 1;
/** Both put characters into a terminal's input: a way out of a session that has one. */
const terminalInput = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c };
/** Set in the numbers of the x32 calls, a second table that would go around the list. */
const x32Bit = 0x40000000;

/** Instruction codes of linux/bpf_common.h: class, size and mode in one number. */
const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const jumpGreaterOrEqual = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const jumpAnyBit = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const giveBack = 0x06; // BPF_RET | BPF_K

/** Offsets in struct seccomp_data; arguments are 64 bit, of which the kernel reads the lower half for these calls. */
const offsetOf = { number: 0, architecture: 4, argument0: 16, argument1: 24 };

const verdict = {
  killProcess: 0x80000000,
  allow: 0x7fff0000,
  notPermitted: 0x00050001, // SECCOMP_RET_ERRNO | EPERM
  notImplemented: 0x00050026, // SECCOMP_RET_ERRNO | ENOSYS
};

/** One struct sock_filter: code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, operand: number];

/**
 * The filter as the kernel reads it: eight bytes an instruction, little-endian.
 * @throws Error for an architecture whose numbers are not listed here.
 */
export function seccompFilter(architecture: string): Buffer {
  if (architecture !== 'x64' && architecture !== 'arm64')
    throw new Error(`There is no system call filter for ${architecture}.`);
  return encode(filterInstructions(systemCalls[architecture]));
}

function filterInstructions(calls: SystemCalls): Instruction[] {
  const checkArgument = (number: number, check: Instruction[]): Instruction[] => [
    [jumpEqual, 0, check.length, number],
    ...check,
  ];
  const localSocketOnly: Instruction[] = [
    [load, 0, 0, offsetOf.argument0],
    [jumpEqual, 1, 0, afUnix],
    [giveBack, 0, 0, verdict.notPermitted],
    [giveBack, 0, 0, verdict.allow],
  ];
  return [
    [load, 0, 0, offsetOf.architecture],
    [jumpEqual, 1, 0, calls.audit],
    [giveBack, 0, 0, verdict.killProcess],
    [load, 0, 0, offsetOf.number],
    [jumpGreaterOrEqual, 0, 1, x32Bit],
    [giveBack, 0, 0, verdict.notPermitted],
    // Its flags are behind a pointer, which a filter cannot read; on ENOSYS the C library uses clone.
    ...answer(clone3, verdict.notImplemented),
    ...Object.values(calls.denied).flatMap((number) => answer(number, verdict.notPermitted)),
    ...checkArgument(calls.clone, [
      [load, 0, 0, offsetOf.argument0],
      [jumpAnyBit, 0, 1, newNamespaces],
      [giveBack, 0, 0, verdict.notPermitted],
      [giveBack, 0, 0, verdict.allow],
    ]),
    ...checkArgument(calls.socket, localSocketOnly),
    ...checkArgument(calls.socketpair, localSocketOnly),
    ...checkArgument(calls.ioctl, [
      [load, 0, 0, offsetOf.argument1],
      [jumpEqual, 1, 0, terminalInput.TIOCSTI],
      [jumpEqual, 0, 1, terminalInput.TIOCLINUX],
      [giveBack, 0, 0, verdict.notPermitted],
      [giveBack, 0, 0, verdict.allow],
    ]),
    [giveBack, 0, 0, verdict.allow],
  ];
}

function answer(number: number, result: number): Instruction[] {
  return [
    [jumpEqual, 0, 1, number],
    [giveBack, 0, 0, result],
  ];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, jumpTrue, jumpFalse, operand], index) => {
    const at = program.writeUInt16LE(code, index * 8);
    program.writeUInt8(jumpTrue, at);
    program.writeUInt8(jumpFalse, at + 1);
    program.writeUInt32LE(operand, at + 2);
  });
  return program;
}
