import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { applyUnifiedDiff } from './apply-unified-diff.ts'
import { startProcessorClock } from '../../../../test/support/processor-clock.ts'

function apply(text: string, diff: string, options: { names?: string[]; bom?: boolean } = {}): string {
  const { names = ['f.txt'], bom = false } = options
  return applyUnifiedDiff(diff, { text, bom, names })
}

function refusal(text: string, diff: string, names?: string[]): { reason: string; message: string } {
  try {
    apply(text, diff, names === undefined ? {} : { names })
  } catch (error) {
    if (error instanceof ToolFailure) return { reason: error.reason, message: error.message }
    throw error
  }
  throw new Error('It was applied.')
}

const header = '--- a/f.txt\n+++ b/f.txt\n'
const ten = 'l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\n'
const change5 = '@@ -4,3 +4,3 @@\n l4\n-l5\n+five\n l6\n'

test('applies hunks at their lines (FILE-6)', () => {
  const diff = `${header}@@ -1,2 +1,3 @@\n l1\n+new\n l2\n@@ -9,2 +10 @@ heading\n-l9\n l10\n`
  expect(apply(ten, diff)).toBe('l1\nnew\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl10\n')
})

test('applies what the diff of two texts says, for any two texts (FILE-6)', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd\te'), { maxLength: 30 })
  const text = fc
    .tuple(lines, fc.boolean())
    .map(([all, open]) => all.map((l) => `${l}\n`).join('') + (open ? 'end' : ''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after)
      const diff = createTwoFilesPatch('a/f.txt', 'b/f.txt', before, after)
      expect(apply(before, diff)).toBe(after)
    }),
  )
})

test('applies a hunk whose lines moved, where it fits at one place only (FILE-6)', () => {
  expect(apply(`x\ny\n${ten}`, header + change5)).toBe(`x\ny\n${ten.replace('l5', 'five')}`)
})

test('refuses a moved hunk that fits at several places (FILE-6)', () => {
  const found = refusal(`x\ny\nz\n${ten}${ten}`, header + change5)
  expect(found.reason).toBe('patch_apply_failed')
  expect(found.message).toContain('lines 7, 17')
})

test('refuses a hunk without context after it that fits in the middle of repeated text (FILE-6)', () => {
  const blocks = '  )\n})\n\nmore\n  )\n})\n\nmore\n  )\n})\n'
  const diff = `${header}@@ -5,2 +5,3 @@\n   )\n })\n+tail\n`
  expect(refusal(blocks, diff).message).toContain('several places')
})

test.each([
  ['an insertion at the end, applied twice', 'a\nb\nc\nX\n', '@@ -1,3 +1,4 @@\n a\n b\n c\n+X\n'],
  ['an insertion at the end of a file that grew', 'a\nb\nc\nd\n', '@@ -1,3 +1,4 @@\n a\n b\n c\n+X\n'],
  ['a deletion at the end of a file that grew', 'a\nb\nc\n', '@@ -1,2 +1,1 @@\n a\n-b\n'],
  ['an insertion at the start, applied twice', 'H\na\nb\nc\n', '@@ -1,3 +1,4 @@\n+H\n a\n b\n c\n'],
  ['a deletion at the start of a file that grew', 'H\na\nb\n', '@@ -1,2 +1 @@\n-a\n b\n'],
  ['a line without context that moved', 'H\na\nb\n', '@@ -1 +1 @@\n-a\n+A\n'],
  ['a line without context that stands there twice', 'a\nb\na\n', '@@ -1 +1 @@\n-a\n+A\n'],
])('refuses %s, as patch -F0 and git apply do (FILE-6)', (_what, text, hunk) => {
  expect(refusal(text, header + hunk).reason).toBe('patch_apply_failed')
})

test.each([
  ['the end of the file', 'q\na\nb\nc\n', '@@ -1,3 +1,4 @@\n a\n b\n c\n+X\n', 'q\na\nb\nc\nX\n'],
  ['less context after than before', ten, '@@ -3,4 +3,4 @@\n l3\n l4\n-l5\n+five\n l6\n', undefined],
  ['less context before than after', ten, '@@ -5,3 +5,3 @@\n-l5\n+five\n l6\n l7\n', undefined],
  ['no context at its stated line', ten, '@@ -5 +5 @@\n-l5\n+five\n', undefined],
])('applies a hunk with %s (FILE-6)', (...[, text, hunk, after = ten.replace('l5', 'five')]) => {
  expect(apply(text, header + hunk)).toBe(after)
})

test('refuses context that differs, and says where and how (FILE-6)', () => {
  const found = refusal(ten.replace('l4', 'L4'), header + change5)
  expect(found.reason).toBe('patch_apply_failed')
  expect(found.message).toContain('at line 4 it expects "l4\\n" and the file has "L4\\n"')
})

test('applies all hunks or none (FILE-6)', () => {
  expect(refusal(ten, `${header}${change5}@@ -8,2 +8,2 @@\n l8\n-nine\n+9\n`).reason).toBe(
    'patch_apply_failed',
  )
  expect(refusal(ten, `${header}@@ -8,3 +8,3 @@\n l8\n-l9\n+9\n l10\n${change5}`).message).toContain(
    'in order',
  )
})

test('refuses counts that the lines do not have, at once (FS-74)', () => {
  const computedMs = startProcessorClock()
  const huge = refusal(ten, `${header}@@ -1,99999999 +1,99999999 @@\n l1\n-l2\n+x\n`)
  expect(computedMs()).toBeLessThan(250)
  expect(huge.reason).toBe('patch_apply_failed')
  expect(refusal(ten, `${header}@@ -4,3 +4,4 @@\n l4\n-l5\n+five\n l6\n`).message).toContain(
    '3 old and 4 new',
  )
  expect(refusal(ten, `${header}@@ -4,2 +4,2 @@\n l4\n-l5\n+five\n l6\n`).message).toContain(
    'belongs to no hunk',
  )
  expect(refusal(ten, `${header}@@ -99999999999999999999 +1 @@\n l1\n`).reason).toBe('patch_apply_failed')
})

test('answers hunks of repeated lines in linear time (FS-75)', () => {
  const text = 'a\n'.repeat(200_000)
  const hunk = `@@ -9,100001 +9,100001 @@\n${' a\n'.repeat(100_000)}-b\n+c\n`
  const computedMs = startProcessorClock()
  expect(refusal(text, header + hunk).reason).toBe('patch_apply_failed')
  expect(computedMs()).toBeLessThan(3_000)
})

test.each([
  ['+++ /dev/null', '--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-l1\n'],
  ['a rename', 'diff --git a/f.txt b/f.txt\nsimilarity index 90%\nrename from f.txt\nrename to ../b\n'],
  ['a copy', 'diff --git a/f.txt b/f.txt\ncopy from f.txt\ncopy to g.txt\n'],
  [
    'a deletion',
    'diff --git a/f.txt b/f.txt\ndeleted file mode 100644\n--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-l1\n',
  ],
  [
    'a symbolic link',
    'diff --git a/f.txt b/f.txt\nnew file mode 120000\n--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+/etc/passwd\n',
  ],
  ['a mode', `diff --git a/f.txt b/f.txt\nold mode 100644\nnew mode 104755\n${header}${change5}`],
  ['a binary patch', 'diff --git a/f.txt b/f.txt\nGIT binary patch\nliteral 3\nabc\n'],
  ['a binary note', 'diff --git a/f.txt b/f.txt\nBinary files a/f.txt and b/f.txt differ\n'],
  ['no hunk', header],
  ['prose', `Here is the diff:\n${header}${change5}`],
  ['a fence', `\`\`\`diff\n${header}${change5}\`\`\`\n`],
  ['a header without its second line', `--- a/f.txt\n${change5}`],
  ['a combined diff', `${header}@@@ -4,3 -4,3 +4,3 @@@\n  l4\n- l5\n++five\n  l6\n`],
])('refuses %s (FILE-6, FS-71, FS-72, FS-73)', (_what, diff) => {
  expect(refusal(ten, diff).reason).toBe('patch_apply_failed')
})

test('says what a diff asks for that cannot be done (FILE-6)', () => {
  const git = 'diff --git a/f.txt b/f.txt\n'
  expect(refusal(ten, `${git}rename from f.txt\nrename to g.txt\n`).message).toContain('renames or copies')
  expect(refusal(ten, `${git}deleted file mode 100644\n`).message).toContain('deletes the file')
  expect(refusal(ten, `${git}new file mode 120000\n`).message).toContain('mode or kind')
  expect(refusal(ten, `${git}index 1234567..89abcde 120000\n`).message).toContain('mode or kind')
  expect(refusal(ten, `${git}GIT binary patch\n`).message).toContain('binary')
})

test.each([
  ['another file', `--- a/g.txt\n+++ b/g.txt\n${change5}`],
  ['another file on one side', `--- a/f.txt\n+++ b/../f.txt\n${change5}`],
  ['a file in a directory', `--- a/sub/f.txt\n+++ b/sub/f.txt\n${change5}`],
  ['a git line for another file', `diff --git a/f.txt b/evil.txt\n${header}${change5}`],
  ['a second file', `${header}${change5}--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-a\n+b\n`],
  ['a second git file', `${header}${change5}diff --git a/g.txt b/g.txt\n`],
])('refuses a diff that names %s (FILE-6)', (_what, diff) => {
  expect(refusal(ten, diff).reason).toBe('patch_path_mismatch')
})

test.each([
  ['a time stamp', '--- a/f.txt\t2024-01-01 00:00:00.000 +0000\n+++ b/f.txt\t2024-01-02\n', 'f.txt'],
  ['no prefix', '--- f.txt\n+++ f.txt\n', 'f.txt'],
  ['other prefixes', '--- i/f.txt\n+++ w/f.txt\n', 'f.txt'],
  ['an absolute path', '--- /srv/x y/f.txt\n+++ /srv/x y/f.txt\n', '/srv/x y/f.txt'],
  ['quotes', '--- "a/\\303\\244\\t.txt"\n+++ "b/\\303\\244\\t.txt"\n', 'ä\t.txt'],
  ['a directory called a', '--- a/a/f.txt\n+++ b/a/f.txt\n', 'a/f.txt'],
  [
    'git lines',
    'diff --git a/x y.txt b/x y.txt\nindex 1234567..89abcde 100644\n--- a/x y.txt\n+++ b/x y.txt\n',
    'x y.txt',
  ],
  [
    'subversion lines',
    'Index: f.txt\n===================================================================\n--- f.txt\n+++ f.txt\n',
    'f.txt',
  ],
  ['no header', '', 'f.txt'],
])('understands headers with %s (FILE-6)', (_what, head, name) => {
  expect(apply(ten, head + change5, { names: [name] })).toBe(ten.replace('l5', 'five'))
})

test('creates a file from nothing, and only from nothing (FILE-6)', () => {
  const diff =
    'diff --git a/f.txt b/f.txt\nnew file mode 100644\n--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n'
  expect(apply('', diff)).toBe('a\nb\n')
  expect(refusal('x\n', diff).message).toContain('has text already')
  expect(refusal('x\n', '--- /dev/null\n+++ b/f.txt\n@@ -1 +1,2 @@\n x\n+y\n').message).toContain(
    'has text already',
  )
  expect(refusal('x\n', `${header}@@ -0,0 +1 @@\n+a\n`).message).toContain('no line of context')
})

test('honours the mark of a missing newline (FILE-6)', () => {
  const mark = '\\ No newline at end of file\n'
  expect(apply('a\nb', `${header}@@ -1,2 +1,2 @@\n a\n-b\n${mark}+c\n${mark}`)).toBe('a\nc')
  expect(apply('a\nb', `${header}@@ -1,2 +1,2 @@\n a\n-b\n${mark}+b\n`)).toBe('a\nb\n')
  expect(apply('a\nb\n', `${header}@@ -1,2 +1,2 @@\n a\n-b\n+b\n${mark}`)).toBe('a\nb')
  expect(refusal('a\nb', `${header}@@ -1,2 +1,2 @@\n a\n-b\n+c\n`).message).toContain(
    'No newline at end of file',
  )
  expect(refusal('a\nb\nc\n', `${header}@@ -1,2 +1,2 @@\n a\n-b\n+B\n${mark}`).reason).toBe(
    'patch_apply_failed',
  )
})

test('fits CRLF files and keeps their line endings (FS-61)', () => {
  const crlf = ten.replaceAll('\n', '\r\n')
  const changed = ten.replace('l5', 'five').replaceAll('\n', '\r\n')
  expect(apply(crlf, header + change5)).toBe(changed)
  expect(apply(crlf, (header + change5).replaceAll('\n', '\r\n'))).toBe(changed)
  expect(apply(ten, (header + change5).replaceAll('\n', '\r\n'))).toBe(ten.replace('l5', 'five'))
  const literal = `${header}@@ -4,3 +4,3 @@\n l4\r\n-l5\r\n+five\r\n l6\r\n`
  expect(apply(crlf, literal)).toBe(changed)
  expect(refusal(ten, literal).reason).toBe('patch_apply_failed')
})

test('gives a last line that gets its line ending that of the line before it (FS-61)', () => {
  const mark = '\\ No newline at end of file\n'
  const diff = `${header}@@ -1,2 +1,3 @@\n a\n-b\n${mark}+b\n+c\n`
  expect(apply('a\r\nb', diff)).toBe('a\r\nb\r\nc\r\n')
  expect(apply('a\nb', diff)).toBe('a\nb\nc\n')
})

test('takes a bare empty line as empty context', () => {
  expect(apply('a\n\nb\n', `${header}@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n`)).toBe('a\n\nc\n')
})

test('keeps a byte order mark apart, whether or not the diff has it', () => {
  const diff = (mark: string) => `${header}@@ -1,2 +1,2 @@\n-${mark}a\n+${mark}A\n b\n`
  expect(apply('a\nb\n', diff(''), { bom: true })).toBe('A\nb\n')
  expect(apply('a\nb\n', diff('\uFEFF'), { bom: true })).toBe('A\nb\n')
})
