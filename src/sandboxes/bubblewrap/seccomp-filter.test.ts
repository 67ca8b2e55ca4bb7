import { expect, test } from 'vitest'
import { seccompFilter } from './seccomp-filter.ts'

const architectures = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const allow = 0x7fff0000
const kill = 0x80000000
const fails = (error: number) => 0x00050000 | error

/** Runs a filter as the kernel does: on the number, the processor and the arguments of a call. */
function judge(
  filter: Buffer,
  { number, arch, args = [] }: { number: number; arch: number; args?: number[] },
) {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number, 0)
  data.writeUInt32LE(arch, 4)
  for (const [index, argument] of args.entries()) data.writeBigUInt64LE(BigInt(argument), 16 + 8 * index)
  let accumulator = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8)
    const value = filter.readUInt32LE(at * 8 + 4)
    const jump = (taken: boolean) => filter.readUInt8(at * 8 + (taken ? 2 : 3))
    if (code === 0x20) accumulator = data.readUInt32LE(value)
    else if (code === 0x06) return value
    else if (code === 0x15) at += jump(accumulator === value)
    else if (code === 0x35) at += jump(accumulator >= value)
    else if (code === 0x45) at += jump((accumulator & value) !== 0)
    else throw new Error(`The kernel knows no operation ${code} here.`)
  }
  throw new Error('The filter ends without an answer.')
}

test.each(['x64', 'arm64'] as const)('the filter of %s ends every call of another processor', (name) => {
  const filter = seccompFilter(name)
  const other = name === 'x64' ? architectures.arm64 : architectures.x64
  for (const number of [0, 39, 172]) {
    expect(judge(filter, { number, arch: other })).toBe(kill)
    // The 32-bit numbering of the same machine.
    expect(judge(filter, { number, arch: name === 'x64' ? 0x40000003 : 0x40000028 })).toBe(kill)
  }
})

test('numbers of x32 end the program', () => {
  expect(judge(seccompFilter('x64'), { number: 0x40000000 + 39, arch: architectures.x64 })).toBe(kill)
})

test.each([
  [
    'x64',
    { read: 0, clone: 56, clone3: 435, ptrace: 101, mount: 165, socket: 41, openat: 257, fchmodat: 268 },
  ],
  [
    'arm64',
    { read: 63, clone: 220, clone3: 435, ptrace: 117, mount: 40, socket: 198, openat: 56, fchmodat: 53 },
  ],
] as const)('the filter of %s looks at numbers and arguments', (name, numbers) => {
  const filter = seccompFilter(name)
  const arch = architectures[name]
  const answer = (call: keyof typeof numbers, ...args: number[]) =>
    judge(filter, { number: numbers[call], arch, args })
  expect(answer('read')).toBe(allow)
  expect(answer('ptrace')).toBe(fails(1))
  expect(answer('mount')).toBe(fails(1))
  expect(answer('clone3')).toBe(fails(38))
  // A thread, a child, and a child in a user or process namespace of its own.
  expect(answer('clone', 0x3d0f00)).toBe(allow)
  expect(answer('clone', 17)).toBe(allow)
  expect(answer('clone', 0x10000000 | 17)).toBe(fails(1))
  expect(answer('clone', 0x20000000 | 17)).toBe(fails(1))
  expect([1, 2, 10, 16].map((family) => answer('socket', family))).toEqual([allow, allow, allow, allow])
  expect([0, 17, 38, 40].map((family) => answer('socket', family))).toEqual([1, 1, 1, 1].map(() => fails(97)))
  expect(answer('openat', 0, 0, 0o100 | 1, 0o644)).toBe(allow)
  expect(answer('openat', 0, 0, 0o100 | 1, 0o4755)).toBe(fails(1))
  // Without O_CREAT the mode is whatever lay in the register.
  expect(answer('openat', 0, 0, 0, 0o4755)).toBe(allow)
  expect(answer('fchmodat', 0, 0, 0o755)).toBe(allow)
  expect(answer('fchmodat', 0, 0, 0o2755)).toBe(fails(1))
})

test.each(['x64', 'arm64'] as const)('every call gets an answer from the filter of %s', (name) => {
  const filter = seccompFilter(name)
  const answers = new Set(
    Array.from({ length: 600 }, (_, number) => judge(filter, { number, arch: architectures[name] })),
  )
  expect(answers).toEqual(new Set([allow, fails(1), fails(38), fails(97)]))
})
