/** A processor whose system calls are known here. */
export type Architecture = 'x64' | 'arm64'

/** The value of `AUDIT_ARCH_*` (linux/audit.h) that the kernel reports for programs of this processor. */
export const auditArchitecture: { readonly [architecture in Architecture]: number } = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
}

type Numbers = readonly [x64: number | undefined, arm64: number | undefined]

/** Numbers of the calls that take part in a rule of their own, from the kernel's tables. */
const ruled = {
  clone: [56, 220],
  clone3: [435, 435],
  openat2: [437, 437],
  socket: [41, 198],
  ioctl: [16, 29],
  open: [2, undefined],
  openat: [257, 56],
  creat: [85, undefined],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  mknod: [133, undefined],
  mknodat: [259, 33],
} as const satisfies { [name: string]: Numbers }

/** Calls that no program of a sandbox has a use for, whatever their arguments. */
const refused = {
  // The tree of mounts, and other roots.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Namespaces.
  unshare: [272, 97],
  setns: [308, 268],
  // Other processes' memory and descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  move_pages: [279, 239],
  // Large parts of the kernel that have had more faults than most.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  memfd_secret: [447, 447],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  // Keys are not kept apart by namespaces.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, undefined],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  syslog: [103, 116],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
  _sysctl: [156, undefined],
  sysfs: [139, undefined],
  ustat: [136, undefined],
} as const satisfies { [name: string]: Numbers }

/** Number of a call that has a rule of its own; undefined if the processor does not have it. */
export function numberOf(name: keyof typeof ruled, architecture: Architecture): number | undefined {
  return pick(ruled[name], architecture)
}

/** Numbers of all calls that are refused whatever their arguments. */
export function refusedNumbers(architecture: Architecture): number[] {
  return Object.values(refused)
    .map((numbers) => pick(numbers, architecture))
    .filter((number) => number !== undefined)
}

function pick([x64, arm64]: Numbers, architecture: Architecture): number | undefined {
  return architecture === 'x64' ? x64 : arm64
}
