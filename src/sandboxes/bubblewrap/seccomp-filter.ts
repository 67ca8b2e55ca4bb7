import { auditArchitecture, numberOf, refusedNumbers, type Architecture } from './system-calls.ts'

/** Error numbers of Linux (errno.h). */
const errno = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const

/** What the kernel does with a call (linux/seccomp.h). */
const verdict = {
  allow: 0x7fff0000,
  kill: 0x80000000,
  fail: (error: number) => 0x00050000 | error,
} as const

/** Operations of the classic filter machine (linux/bpf_common.h). */
const operation = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, answer: 0x06 } as const

/** One step: jumps count the steps that are left out. */
interface Step {
  readonly code: number
  readonly value: number
  readonly ifTrue?: number
  readonly ifFalse?: number
}

const numberAt = 0
const architectureAt = 4
/** The low half of an argument; both processors are little-endian. */
const argumentAt = (index: number) => 16 + 8 * index

const namespaceFlags =
  0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
const setIdBits = 0o6000
/** `O_CREAT` and `O_TMPFILE`: only with them does a mode count. */
const creates = 0o100 | 0o20000000
/** Local, IPv4, IPv6 and netlink, which lists network interfaces. Others, such as the host's own bus for virtual machines, are not kept apart by namespaces. */
const socketFamilies = [1, 2, 10, 16]
/** Both put letters into the terminal's input. */
const terminalInput = [0x5412, 0x541c]

/**
 * A filter of system calls, as bwrap and the kernel take it. What it refuses fails with EPERM; calls of another processor's numbering
 * end the program. `clone3` does not exist behind it, since its flags cannot be looked at: programs use `clone` then.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  return encode([
    load(architectureAt),
    { code: operation.equal, value: auditArchitecture[architecture], ifTrue: 1 },
    answer(verdict.kill),
    load(numberAt),
    ...(architecture === 'x64'
      ? [{ code: operation.atLeast, value: 0x40000000, ifFalse: 1 }, answer(verdict.kill)]
      : []),
    ...refusedNumbers(architecture).flatMap((number) => ifNumber(number, [fail(errno.EPERM)])),
    ...rules(architecture),
    answer(verdict.allow),
  ])
}

function rules(architecture: Architecture): Step[] {
  const rule = (name: Parameters<typeof numberOf>[0], steps: readonly Step[]): Step[] => {
    const number = numberOf(name, architecture)
    return number === undefined ? [] : ifNumber(number, [...steps, answer(verdict.allow)])
  }
  const setId = (mode: number) => refuseBits(mode, setIdBits)
  return [
    ...rule('clone3', [fail(errno.ENOSYS)]),
    ...rule('openat2', [fail(errno.ENOSYS)]),
    ...rule('clone', refuseBits(0, namespaceFlags)),
    ...rule('ioctl', [load(argumentAt(1)), ...terminalInput.flatMap((value) => refuseValue(value))]),
    ...rule('socket', [
      load(argumentAt(0)),
      ...socketFamilies.flatMap((family) => ifEqual(family, [answer(verdict.allow)])),
      fail(errno.EAFNOSUPPORT),
    ]),
    ...rule('open', [...unlessBits(1, creates), ...setId(2)]),
    ...rule('openat', [...unlessBits(2, creates), ...setId(3)]),
    ...rule('creat', setId(1)),
    ...rule('chmod', setId(1)),
    ...rule('fchmod', setId(1)),
    ...rule('fchmodat', setId(2)),
    ...rule('fchmodat2', setId(2)),
    ...rule('mknod', setId(1)),
    ...rule('mknodat', setId(2)),
  ]
}

function load(offset: number): Step {
  return { code: operation.load, value: offset }
}

function answer(value: number): Step {
  return { code: operation.answer, value }
}

function fail(error: number): Step {
  return answer(verdict.fail(error))
}

/** Steps for one call. They have to end with an answer, since they lose its number. */
function ifNumber(number: number, steps: readonly Step[]): Step[] {
  return ifEqual(number, steps)
}

function ifEqual(value: number, steps: readonly Step[]): Step[] {
  return [{ code: operation.equal, value, ifFalse: steps.length }, ...steps]
}

function refuseValue(value: number): Step[] {
  return ifEqual(value, [fail(errno.EPERM)])
}

function refuseBits(argument: number, bits: number): Step[] {
  return [load(argumentAt(argument)), { code: operation.anyBit, value: bits, ifFalse: 1 }, fail(errno.EPERM)]
}

/** Allows the call where the argument has none of the bits. */
function unlessBits(argument: number, bits: number): Step[] {
  return [
    load(argumentAt(argument)),
    { code: operation.anyBit, value: bits, ifTrue: 1 },
    answer(verdict.allow),
  ]
}

function encode(steps: readonly Step[]): Buffer {
  const bytes = Buffer.alloc(steps.length * 8)
  for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of steps.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
