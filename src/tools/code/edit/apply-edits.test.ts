import { expect, test } from 'vitest'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { applyEdits, type Edit } from './apply-edits.ts'
import { startProcessorClock } from '../../../../test/support/processor-clock.ts'

const edit = (old: string, replacement: string, replaceAll = false): Edit => ({
  old,
  new: replacement,
  replaceAll,
})

async function failure(run: () => unknown): Promise<ToolFailure> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ToolFailure) return error
    throw error
  }
  throw new Error('It did not fail.')
}

test('replaces the one place where the old text is (FILE-6)', async () => {
  expect(await applyEdits('let a = 1\nlet b = 2\n', [edit('b = 2', 'b = 3')], false)).toBe(
    'let a = 1\nlet b = 3\n',
  )
})

test('takes the new text literally (FILE-6)', async () => {
  expect(await applyEdits('cost: X', [edit('X', '$& $1 $$ $`')], false)).toBe('cost: $& $1 $$ $`')
  expect(await applyEdits('a.b a.b axb', [edit('a.b', '[.]', true)], false)).toBe('[.] [.] axb')
})

test('refuses text that is not there, with the line that was probably meant (FILE-6)', async () => {
  const spaces = await failure(() =>
    applyEdits('if (a) {\n    return 1\n}\n', [edit('  return 1\n  }', 'x')], false),
  )
  expect(spaces.reason).toBe('text_not_found')
  expect(spaces.data).toEqual({ edit: 1, line: 2, text: '    return 1' })
  const similar = await failure(() =>
    applyEdits('function total(a, b) {}\n', [edit('function totals(a) {}', 'x')], false),
  )
  expect(similar.data).toMatchObject({ line: 1 })
  expect((await failure(() => applyEdits('abc', [edit('zzz', 'x')], false))).data).toEqual({ edit: 1 })
})

test('refuses text that occurs more than once, with the lines (FILE-6)', async () => {
  const found = await failure(() => applyEdits('x\ny\nx\n', [edit('x', 'z')], false))
  expect(found.reason).toBe('ambiguous_edit')
  expect(found.data).toEqual({ edit: 1, matches: 2, lines: [1, 3] })
  expect((await failure(() => applyEdits('aaa', [edit('aa', 'b')], false))).reason).toBe('ambiguous_edit')
})

test('replaces every occurrence where asked (FILE-6)', async () => {
  expect(await applyEdits('x\ny\nx\n', [edit('x', 'z', true)], false)).toBe('z\ny\nz\n')
  expect(await applyEdits('aaaa', [edit('aa', 'a', true)], false)).toBe('aa')
})

test('applies each edit to what the one before left, and names the one that fails (FILE-6)', async () => {
  expect(await applyEdits('a', [edit('a', 'b'), edit('b', 'c')], false)).toBe('c')
  const found = await failure(() => applyEdits('a', [edit('a', 'b'), edit('a', 'c')], false))
  expect(found.message).toContain('edit 2 of 2')
  expect(found.data).toMatchObject({ edit: 2 })
})

test('fills an empty file only where that was asked for (FILE-6)', async () => {
  expect(await applyEdits('', [edit('', 'hello\n')], true)).toBe('hello\n')
  expect((await failure(() => applyEdits('', [edit('', 'hello\n')], false))).reason).toBe('ambiguous_edit')
  expect((await failure(() => applyEdits('text', [edit('', 'hello\n')], true))).reason).toBe('ambiguous_edit')
})

test('matches LF in CRLF files and keeps their line endings (FS-61)', async () => {
  const crlf = 'a\r\nb\r\nc\r\n'
  expect(await applyEdits(crlf, [edit('a\nb\n', 'a\nx\nb\n')], false)).toBe('a\r\nx\r\nb\r\nc\r\n')
  expect(await applyEdits(crlf, [edit('b', 'b1\nb2')], false)).toBe('a\r\nb1\r\nb2\r\nc\r\n')
  expect(await applyEdits(crlf, [edit('a\nb\nc\n', '')], false)).toBe('')
  expect(await applyEdits('a\r\nb', [edit('b', 'b\nc')], false)).toBe('a\r\nb\r\nc')
})

test('touches only the line endings of what changes in a mixed file (FS-61)', async () => {
  const mixed = 'one\r\ntwo\nthree\r\nfour\n'
  expect(await applyEdits(mixed, [edit('one\ntwo\nthree\n', 'one\nTWO\nthree\n')], false)).toBe(
    'one\r\nTWO\nthree\r\nfour\n',
  )
  expect(await applyEdits(mixed, [edit('three\n', 'three\nmore\n')], false)).toBe(
    'one\r\ntwo\nthree\r\nmore\nfour\n',
  )
})

test('takes CR literally where an edit has one', async () => {
  expect(await applyEdits('a\r\nb\r\n', [edit('a\r\n', 'a\n')], false)).toBe('a\nb\r\n')
  expect((await failure(() => applyEdits('a\nb\n', [edit('a\r\nb', 'x')], false))).reason).toBe(
    'text_not_found',
  )
})

test('keeps a missing newline at the end missing', async () => {
  expect(await applyEdits('a\nb', [edit('b', 'c')], false)).toBe('a\nc')
})

test('answers hostile texts in linear time', async () => {
  const text = 'a'.repeat(2_000_000)
  const old = `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`
  const computedMs = startProcessorClock()
  expect((await failure(() => applyEdits(text, [edit(old, 'x')], false))).reason).toBe('text_not_found')
  expect((await failure(() => applyEdits(text, [edit('a'.repeat(1_000_000), 'x')], false))).reason).toBe(
    'ambiguous_edit',
  )
  expect(computedMs()).toBeLessThan(3_000)
})
