import {
  closeSync,
  fstatSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'

/** Ways to put other bytes of the same size at a path that keep the time, and what else they can, as it was. */
const writers: Readonly<Record<string, (path: string, content: string) => void>> = {
  'in place, with its time put back': (path, content) => {
    const { atime, mtime } = statSync(path)
    writeFileSync(path, content)
    utimesSync(path, atime, mtime)
  },
  'some bytes through an open descriptor, as a mapping does': (path, content) => {
    const descriptor = openSync(path, 'r+')
    const { atime, mtime } = fstatSync(descriptor)
    writeSync(descriptor, content, 0)
    futimesSync(descriptor, atime, mtime)
    closeSync(descriptor)
  },
  'another file renamed over it': (path, content) => {
    const { atime, mtime } = statSync(path)
    writeFileSync(`${path}.new`, content)
    utimesSync(`${path}.new`, atime, mtime)
    renameSync(`${path}.new`, path)
  },
  'removed and made anew, with the inode that became free': (path, content) => {
    const { atime, mtime } = statSync(path)
    unlinkSync(path)
    writeFileSync(path, content)
    utimesSync(path, atime, mtime)
  },
  'cut to nothing and filled again': (path, content) => {
    const { atime, mtime } = statSync(path)
    truncateSync(path, 0)
    writeFileSync(path, content)
    utimesSync(path, atime, mtime)
  },
  'a link in its place': (path, content) => {
    writeFileSync(`${path}.target`, content)
    rmSync(path)
    symlinkSync(`${path}.target`, path)
  },
}

const reversed = (text: string) => text.split('').toReversed().join('')

test('every look sees what is there at that moment, whoever wrote it and how (FILE-1, FILE-6)', async () => {
  const project = makeFolder({ 'a.txt': 'version 000\n' })
  const path = join(project, 'a.txt')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  let version = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(writers)), fc.nat(3), async (writer, look) => {
      // Seen just before, so that whatever is kept of it is there.
      const before = readFileSync(path, 'utf8')
      const seen = await runtime.session().call('code.read_file', { path: 'a.txt' })
      expect(seen.data).toMatchObject({ content: before })
      const content = `version ${String(++version).padStart(3, '0')}\n`
      writers[writer]?.(path, content)
      if (look === 0) {
        const { data } = await runtime.session().call('code.read_file', { path: 'a.txt' })
        expect([writer, data]).toMatchObject([writer, { content }])
      } else if (look === 1) {
        const { data } = await runtime.session().call('code.search', {
          query: 'version',
          path: statSync(path).isFile() ? '.' : path,
        })
        expect([writer, JSON.stringify(data)]).toEqual([writer, expect.stringContaining(content.trim())])
      } else {
        const edit = (old: string) =>
          runtime.session().call('code.edit_file', { path: 'a.txt', edits: [{ old, new: reversed(old) }] })
        expect((await edit(before.trim())).error?.reason).toBe('text_not_found')
        expect((await edit(content.trim())).ok).toBe(true)
        expect(readFileSync(path, 'utf8')).toBe(`${reversed(content.trim())}\n`)
      }
    }),
    { numRuns: rounds({ usual: 10, long: 120 }) },
  )
})

test('a file that changes between every two reads is never read as it was, in one clock tick neither (FILE-1)', async () => {
  const project = makeFolder({ 'a.txt': '0000' })
  const runtime = await openRuntime({ project, tools: [codeTools()] })
  const descriptor = openSync(join(project, 'a.txt'), 'r+')
  for (let i = 0; i < 1_000; i++) {
    const content = String(i).padStart(4, '0')
    writeSync(descriptor, content, 0)
    const { data } = await runtime.session().call('code.read_file', { path: 'a.txt' })
    expect(data).toMatchObject({ content })
  }
  closeSync(descriptor)
})
