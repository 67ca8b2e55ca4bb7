import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEveryEntrance, openLibrary } from '../support/sandbox-entrances.ts'

const bom = '\uFEFF'
const text = 'first line\r\nGrüße aus Köln\r\nlast line\r\n'
const utf16be = (letters: string) => Buffer.from(letters, 'utf16le').swap16()

/** Files that are text, with the way to write other text in the same form. */
const texts: Readonly<Record<string, (letters: string) => Buffer>> = {
  'utf-8': (letters) => Buffer.from(letters),
  'utf-8 with a byte order mark': (letters) => Buffer.from(bom + letters),
  'utf-16, little end first': (letters) => Buffer.from(bom + letters, 'utf16le'),
  'utf-16, big end first': (letters) => utf16be(bom + letters),
}

/** Files that are none: an edit could damage them. */
const others: Readonly<Record<string, Buffer>> = {
  'Latin-1': Buffer.from(text, 'latin1'),
  'utf-8 with one wrong byte': Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x0a])]),
  'utf-8 with a letter cut off': Buffer.from(text.repeat(3)).subarray(0, 17),
  'utf-16 without a byte order mark': Buffer.from(text, 'utf16le'),
  'utf-32': Buffer.concat([
    Buffer.from([0xff, 0xfe, 0, 0]),
    Buffer.from(text.split('').flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0])),
  ]),
  'surrogates in utf-8': Buffer.from([0x66, 0xed, 0xa0, 0x80, 0x0a]),
}

atEveryEntrance((open) => {
  test('text in every encoding with a mark is read, found and edited, and keeps its form (FILE-1, FILE-3, FILE-6, FS-61)', async () => {
    const { project, call } = await open({ files: { 'a.txt': '' } })
    const path = join(project, 'a.txt')
    for (const [name, encode] of Object.entries(texts)) {
      writeFileSync(path, encode(text))
      const read = await call('code.read_file', { path: 'a.txt' })
      expect([name, read.ok, read.text]).toEqual([name, true, expect.stringContaining('Grüße aus Köln')])
      const found = await call('code.search', { query: 'Köln', path: 'a.txt' })
      expect([name, found.text]).toEqual([name, expect.stringContaining('Grüße aus Köln')])
      const edits = [{ old: 'first line\nGrüße', new: 'erste Zeile\nGrüße 🎉' }]
      expect([name, await call('code.edit_file', { path: 'a.txt', edits })]).toMatchObject([
        name,
        { ok: true },
      ])
      const wanted = text.replace('first line\r\nGrüße', 'erste Zeile\r\nGrüße 🎉')
      expect([name, readFileSync(path)]).toEqual([name, encode(wanted)])
    }
  })
})

test('what is not text in a known encoding is never edited, and no byte of it is lost (FILE-1, FILE-6)', async () => {
  const { project, call } = await openLibrary({ files: { 'a.txt': '' } })
  const path = join(project, 'a.txt')
  for (const [name, bytes] of Object.entries(others)) {
    writeFileSync(path, bytes)
    for (const input of [
      { path: 'a.txt', edits: [{ old: 'f', new: 'F' }] },
      { path: 'a.txt', unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-first line\n+other\n' },
    ]) {
      const edited = await call('code.edit_file', input)
      expect([name, edited]).toMatchObject([name, { ok: false, reason: 'binary_file' }])
    }
    const read = await call('code.read_file', { path: 'a.txt' })
    if (read.ok) expect([name, read.text]).toEqual([name, expect.stringContaining('\uFFFD')])
    else expect([name, read.reason]).toEqual([name, 'binary_file'])
    const moved = await call('code.move_path', { from: 'a.txt', to: 'b/b.txt' })
    expect([name, moved.ok]).toEqual([name, true])
    expect((await call('code.copy_path', { from: 'b/b.txt', to: 'a.txt' })).ok).toBe(true)
    expect((await call('code.delete_path', { path: 'b', recursive: true })).ok).toBe(true)
    expect([name, readFileSync(path)]).toEqual([name, bytes])
  }
  writeFileSync(path, others['Latin-1'] ?? '')
  const found = await call('code.search', { query: 'last', path: 'a.txt' })
  expect(found.text).toContain('last line')
})
