import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createBodyStream } from './body-stream.ts'
import { openBody } from './open-body.ts'

/** Where a body comes from, and what it is told. */
function watchFlow() {
  const told: string[] = []
  const pause = () => void told.push('pause')
  const resume = () => void told.push('resume')
  const abort = (reason: Error) => void told.push(reason.message)
  return { told, flow: { pause, resume, abort } }
}

test('a body that nobody reads makes its server wait, and goes on when it is read', async () => {
  const { told, flow } = watchFlow()
  const body = createBodyStream(flow, { isEvents: false })
  const reader = body.stream.getReader()
  const piece = new Uint8Array(60 * 1024)
  body.push(piece)
  expect(told).toEqual([])
  body.push(piece)
  expect(told).toEqual(['pause'])
  await reader.read()
  await reader.read()
  expect(told.at(-1)).toBe('resume')
  await reader.cancel('enough')
  expect(told.at(-1)).toBe('It is not wanted any more.')
  body.push(piece)
  body.end()
  expect((await reader.read()).done).toBe(true)
})

test('one that is packed makes it wait, too', async () => {
  const { told, flow } = watchFlow()
  const body = openBody(flow, { 'content-encoding': 'gzip' })
  const text = randomBytes(1024 * 1024)
  const packed = gzipSync(text)
  for (let at = 0; at < packed.length; at += 16 * 1024) {
    body.push(packed.subarray(at, at + 16 * 1024))
    await setImmediate()
  }
  expect(told).toContain('pause')
  told.length = 0
  const reader = body.stream.getReader()
  const pieces: Uint8Array[] = []
  for (let size = 0; size < text.length; size += pieces.at(-1)?.length ?? 0)
    pieces.push((await reader.read()).value ?? new Uint8Array())
  expect(Buffer.concat(pieces).equals(text)).toBe(true)
  expect(told).toContain('resume')
  body.end()
  expect((await reader.read()).done).toBe(true)
})

test('a body that is too large ends its flow', async () => {
  const { told, flow } = watchFlow()
  const body = createBodyStream(flow, { isEvents: false })
  const piece = new Uint8Array(1024 * 1024)
  for (let count = 0; count < 40; count++) body.push(piece)
  const why = 'The answer is larger than 33554432 bytes.'
  expect(told.filter((each) => each !== 'pause')).toEqual([why])
  await expect(body.stream.getReader().read()).rejects.toThrow(why)
})

test('each event of a stream is counted alone, and only an empty line ends one', () => {
  const mebibyte = 1024 * 1024
  const faultsOf = (pieces: Iterable<Uint8Array>): number => {
    const { told, flow } = watchFlow()
    const body = createBodyStream(flow, { isEvents: true })
    body.stream.getReader().closed.catch(() => {})
    for (const piece of pieces) body.push(piece)
    return told.filter((each) => each !== 'pause' && each !== 'resume').length
  }
  const line = `data: ${'x'.repeat(mebibyte)}`
  const repeat = (...texts: string[]): Uint8Array[] => {
    const pieces = texts.map((text) => Buffer.from(text))
    return Array.from({ length: 40 }, () => pieces).flat()
  }
  for (const end of ['', '\n', '\r', '\r\n']) expect(faultsOf(repeat(line + end))).toBe(1)
  // The two halves of one line end are no empty line.
  expect(faultsOf(repeat(`${line}\r`, '\n'))).toBe(1)
  for (const end of ['\n\n', '\r\r', '\r\n\r\n', '\n\r\n', '\r\n\n', '\n\r'])
    expect(faultsOf(repeat(`${line}${end}id: 1`))).toBe(0)
  for (const cut of [
    ['\n', '\n'],
    ['\r', '\r'],
    ['\r\n', '\r\n'],
    ['\r', '\n', '', '\r\n'],
  ])
    expect(faultsOf(repeat(line, ...cut))).toBe(0)
  const now = [...repeat(`${line}\n`).slice(20), ...repeat('\n', `${line}\n`).slice(40)]
  expect(faultsOf(now)).toBe(0)
})
