import { expect, test } from 'vitest'
import type { Artifact } from '../../contract/base/result.ts'
import type { ArtifactSink } from '../../contract/services/sandbox.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import type { JobLog } from '../state/job-log.ts'
import { createJobLog } from './create-job-log.ts'

function open(secrets: readonly string[] = []) {
  const written: Buffer[] = []
  const sink: ArtifactSink = {
    open: ({ mimeType }) => ({
      write: (bytes) => void written.push(Buffer.from(bytes)),
      finish: async (): Promise<Artifact> => ({
        digest: 'sha256:x',
        bytes: Buffer.concat(written).length,
        mimeType,
      }),
      abandon: async () => {},
    }),
  }
  return { log: createJobLog(sink, createRedactor(secrets)), written }
}

/** All that is at hand from an offset on, page by page. */
function readAll(log: JobLog, { from = 0, maxBytes = 1000 } = {}) {
  let text = ''
  const jumps: number[] = []
  for (let offset = from; offset < log.bytes();) {
    const page = log.read({ offset, maxBytes })
    if (page.offset !== offset) jumps.push(page.offset - offset)
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(maxBytes)
    if (page.nextOffset <= offset) throw new Error(`It stands still at ${offset}.`)
    text += page.text
    offset = page.nextOffset
  }
  return { text, jumps }
}

test('shows whole lines, each without secrets, whatever the pieces that they come in', async () => {
  const { log } = open(['sw0rdfish!'])
  const out = (text: string) => log.add({ stream: 'stdout', text })
  out('a sw0rd')
  expect(log.read({ offset: 0, maxBytes: 100 })).toEqual({ text: '', offset: 0, nextOffset: 0 })
  log.add({ stream: 'stderr', text: 'bad\n' })
  out('fish! b\nnext')
  expect(log.read({ offset: 0, maxBytes: 100 }).text).toBe('bad\na [redacted] b\n')
  expect(await log.finish()).toBeUndefined()
  expect(log.read({ offset: 4, maxBytes: 100 }).text).toBe('a [redacted] b\nnext')
})

test.each([5, 7, 1000, 24_576])('reads %i bytes at a time without cutting a letter in two', (maxBytes) => {
  const { log } = open()
  const text = 'aä€😀\n'.repeat(300)
  log.add({ stream: 'stdout', text })
  expect(readAll(log, { maxBytes })).toEqual({ text, jumps: [] })
  expect(log.read({ offset: 1e9, maxBytes })).toEqual({
    text: '',
    offset: log.bytes(),
    nextOffset: log.bytes(),
  })
})

test.each([0, 1, 2, 3])('keeps both ends, in whole letters, and hands on everything (%i)', async (shift) => {
  const { log, written } = open()
  const text = `${'x'.repeat(shift)}${'😀'.repeat(200)}\n`.repeat(1000)
  for (let at = 0; at < text.length; at += 9_999)
    log.add({ stream: 'stdout', text: text.slice(at, at + 9_999).toWellFormed() })
  const artifact = await log.finish()
  const whole = Buffer.concat(written)
  expect(artifact?.bytes).toBe(log.bytes())
  expect(whole.length).toBe(log.bytes())
  const { text: ends, jumps } = readAll(log)
  expect(jumps).toHaveLength(1)
  expect(ends.length).toBeLessThan(262_144)
  expect(whole.toString().startsWith(ends.slice(0, 60_000))).toBe(true)
  expect(whole.toString().endsWith(ends.slice(-60_000))).toBe(true)
  const { offset, text: page } = log.read({
    offset: 400_000,
    maxBytes: 1000,
  })
  expect(whole.subarray(offset, offset + Buffer.byteLength(page)).toString()).toBe(page)
})
