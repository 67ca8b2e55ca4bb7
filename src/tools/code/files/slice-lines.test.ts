import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sliceLines, type LineWindow } from './slice-lines.ts'

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const window: LineWindow = { startLine: 1, maxLines: 1_000, maxLineBytes: 4_096, lineBreak: 0x0a }

async function slice(text: string, wanted: Partial<LineWindow> = {}, size = 3) {
  const { lines, ...rest } = await sliceLines(inPieces(Buffer.from(text), size), { ...window, ...wanted })
  return {
    lines: lines.map(({ number, bytes, ending, cut }) => [number, bytes.toString(), ending, cut]),
    ...rest,
  }
}

test('gives every line with its ending, wherever the pieces are cut (FILE-1)', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', '\r\n', '🙂'), maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (whole, size) => {
      const { lines } = await slice(whole, {}, size)
      expect(lines.map(([, line, ending]) => `${String(line)}${String(ending)}`).join('')).toBe(whole)
    }),
  )
})

test('counts lines and tells whether the last one ends (FILE-1)', async () => {
  expect(await slice('a\r\nb')).toEqual({
    lines: [
      [1, 'a', '\r\n', false],
      [2, 'b', '', false],
    ],
    totalLines: 2,
    finalNewline: false,
  })
  expect(await slice('a\n')).toMatchObject({ totalLines: 1, finalNewline: true })
  expect(await slice('')).toEqual({ lines: [], totalLines: 0, finalNewline: false })
  expect(await slice('a\n', { startLine: 9 })).toEqual({ lines: [], totalLines: 1, finalNewline: true })
})

test('stops as soon as it knows that more lines follow (FILE-1)', async () => {
  let read = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      read++
      yield Buffer.from('line\n')
    }
  }
  const { lines, totalLines } = await sliceLines(endless(), { ...window, startLine: 3, maxLines: 2 })
  expect(lines.map((line) => line.number)).toEqual([3, 4])
  expect(totalLines).toBeUndefined()
  expect(read).toBe(5)
})

test('cuts a long line at a whole code point (FILE-1)', async () => {
  expect(await slice('aé🙂b\nc\n', { maxLineBytes: 5 })).toMatchObject({
    lines: [
      [1, 'aé', '\n', true],
      [2, 'c', '\n', false],
    ],
  })
  expect((await slice('abcde\r\n', { maxLineBytes: 5 })).lines).toEqual([[1, 'abcde', '\r\n', false]])
  expect((await slice('abcdef', { maxLineBytes: 5 })).lines).toEqual([[1, 'abcde', '', true]])
})

test('keeps memory small for one endless line (FS-55)', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  async function* long(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 256; i++) yield piece
  }
  const { lines } = await sliceLines(long(), window)
  expect(lines).toHaveLength(1)
  expect(lines[0]?.bytes.length).toBe(4_096)
  expect(lines[0]?.cut).toBe(true)
})

test('splits at CR where the file has nothing else', async () => {
  expect((await slice('a\rb\r', { lineBreak: 0x0d })).lines).toEqual([
    [1, 'a', '\r', false],
    [2, 'b', '\r', false],
  ])
})
