import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../mcp/connect.ts'
import { makePlace, onBundle } from '../../support/command-line.ts'
import { makeFolder } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'
import { toOwnServer } from '../../support/serve-stdio.ts'

const most = rounds({ usual: 22_000_000, long: 1_000_000_000 })
/** Where the most would say no more, only later. Kept in memory, it would be more than what may be added. */
const less = rounds({ usual: 22_000_000, long: 100_000_000 })
const maxGrowth = 20e6
const secret = 'a secret of the operator'
const token = ['ghp_', 'a1b2c3d4e5'.repeat(4), 'abcde'].join('')

const lines = 'yes 0123456789 | head -c BYTES'
/** Ten thousand bytes with this at their start, again and again, without a line end. */
const endless = (word: string) =>
  `yes "${word} $(printf "%0${9_998 - word.length}d" 0)" | tr "\\n" " " | head -c BYTES`
const bytesWithout = (secret: string) => less - (less / 10_000) * (secret.length - '[redacted]'.length)

interface Measured {
  ok: boolean
  kept: readonly { digest: string; bytes: number }[]
  heard: number
  growth: number
}

/**
 * What so many bytes of this script's output leave, and take, in a program of its own. The room for what is young, which V8 makes as it
 * likes where the machine is busy, is kept small.
 */
async function measure(way: 'call' | 'job', script: string, bytes = less): Promise<Measured> {
  const worker = join(import.meta.dirname, 'gigabyte-worker.ts')
  const node = [onBundle, '--max-semi-space-size=2']
  const argv = [...node, worker, way, String(bytes), makeFolder(), makeFolder(), script]
  const { stdout } = await promisify(execFile)(process.execPath, argv)
  return JSON.parse(stdout) as Measured
}

test(`${most / 1_000_000} MB of lines add less than 20 MB to the memory of Handrail`, async () => {
  const { ok, kept, heard, growth } = await measure('call', lines, most)
  expect({ ok, bytes: kept[0]?.bytes }).toEqual({ ok: true, bytes: most })
  expect(heard).toBeGreaterThan(65_536)
  expect(growth).toBeLessThan(maxGrowth)
})

/** In `npm test` the output with a secret in it, which is kept no longer than this, shows the same. */
const withoutSecret = (['call', 'job'] as const).slice(0, rounds({ usual: 0, long: 2 }))

test.each(withoutSecret)('much output of a %s without a line end adds no more (FILE-7)', async (way) => {
  const { ok, kept, growth } = await measure(way, endless('no secret'))
  expect({ ok, bytes: kept[0]?.bytes }).toEqual({ ok: true, bytes: less })
  expect(growth).toBeLessThan(maxGrowth)
})

test.each([
  ['call', token],
  ['job', secret],
] as const)(
  'every secret in much output of a %s is redacted whole, and adds no more (OUT-4)',
  async (way, hidden) => {
    const { ok, kept, growth } = await measure(way, endless(hidden))
    expect({ ok, bytes: kept[0]?.bytes }).toEqual({ ok: true, bytes: bytesWithout(hidden) })
    expect(growth).toBeLessThan(maxGrowth)
  },
)

test('as much at stderr beside what comes at stdout adds less than twice that', async () => {
  const { ok, kept, growth } = await measure('call', `${endless('no end')} >&2 & ${lines}; wait`)
  expect({ ok, bytes: kept.map(({ bytes }) => bytes) }).toEqual({ ok: true, bytes: [less, less] })
  // Each stream has buffers of its own, which the heap frees when it likes.
  expect(growth).toBeLessThan(2 * maxGrowth)
})

test('much output through MCP adds no more to the memory of its server', async () => {
  const place = makePlace()
  const client = createClient({
    era: 'modern',
    onAsk: () => ({ action: 'accept', content: { decision: 'allow_for_session' } }),
  })
  const server = toOwnServer(place)
  await client.connect(server)
  onTestFinished(() => client.close())
  const run = async (bytes: number) => {
    const argv = ['sh', '-c', endless('no secret').replace('BYTES', String(bytes))]
    const { isError } = await client.callTool({ name: 'code__run_command', arguments: { argv } })
    expect(isError).not.toBe(true)
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }
  const before = await run(less / 5)
  expect((await run(less)) - before).toBeLessThan(maxGrowth)
  expect(Math.max(...sizesOf(place.home))).toBe(less)
})

function sizesOf(folder: string): number[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return entries.map((name) => statSync(join(folder, name)).size)
}
