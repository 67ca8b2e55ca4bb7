import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { previewDiff } from './preview-diff.ts'

test('shows a change as a unified diff with its counts', () => {
  const preview = previewDiff({ name: 'f.txt', before: 'a\nb\nc\n', after: 'a\nB\nc\nd\n' })
  expect(preview).toMatchObject({ addedLines: 2, removedLines: 1 })
  expect(preview.body).toBe('--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n')
})

test('shows a new file as a diff from nothing', () => {
  const { body } = previewDiff({ name: 'f.txt', before: undefined, after: 'a\n' })
  expect(body).toBe('--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1,1 @@\n+a\n')
})

test('makes characters visible that could hide something', () => {
  const { body } = previewDiff({ name: 'f.txt', before: 'a\n', after: 'a\x1b[2K\rsafe \u202eevil\r\n' })
  expect(body).toContain('+a␛[2K␍safe <U+202E>evil\r\n')
})

test('is bounded and always the same for texts that have nothing in common (FS-75)', () => {
  const lines = (seed: number) =>
    Array.from({ length: 3_000 }, (_, i) => `${(i * seed) % 104_729}\n`).join('')
  const change = { name: 'f.txt', before: lines(7_919), after: lines(6_007) }
  const preview = previewDiff(change)
  expect(preview).toEqual(previewDiff(change))
  expect(preview.addedLines).toBeGreaterThan(2_000)
})

test('stays an exact diff where it falls back to all lines', () => {
  const before = Array.from({ length: 1_200 }, (_, i) => `old ${i}`).join('\n')
  const after = Array.from({ length: 1_200 }, (_, i) => `new ${i}\n`).join('')
  const { body } = previewDiff({ name: 'f.txt', before, after })
  expect(applyPatch(before, body)).toBe(after)
})

test('says what it leaves out over 64 KiB', () => {
  const long = (word: string) => Array.from({ length: 5_000 }, (_, i) => `${word} number ${i}\n`).join('')
  const one = previewDiff({ name: 'f.txt', before: undefined, after: long('line') })
  const two = previewDiff({ name: 'f.txt', before: undefined, after: `${long('line')}evil\n` })
  expect(Buffer.byteLength(one.body)).toBeLessThan(66 * 1024)
  expect(one.body).toMatch(
    /… \d+ more lines of the diff \(\d+ bytes, sha256:[0-9a-f]{64}\) are not shown here\n$/,
  )
  expect(one.body).not.toBe(two.body)
})

test('is exact wherever the texts differ, at their ends too', () => {
  const text = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 30 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const preview = previewDiff({ name: 'f', before, after })
      expect(applyPatch(before, preview.body)).toBe(after)
      const lines = preview.body.split('\n').slice(2)
      const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
      expect([preview.addedLines, preview.removedLines]).toEqual([count('+'), count('-')])
    }),
  )
})

test('shows of a large change only what differs', () => {
  const lines = (word: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join('')
  const same = lines('same', 50_000)
  const { body, ...counts } = previewDiff({
    name: 'f',
    before: same + lines('old', 60_000) + same,
    after: `${same}new\n${same}`,
  })
  expect(counts).toEqual({ addedLines: 1, removedLines: 60_000 })
  expect(body.split('\n').slice(0, 8)).toEqual([
    '--- a/f',
    '+++ b/f',
    '@@ -50001,60000 +50001,1 @@',
    '-old 0',
    '-old 1',
    '-old 2',
    '-old 3',
    '-old 4',
  ])
})
