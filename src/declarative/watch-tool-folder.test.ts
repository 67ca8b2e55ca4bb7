import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { readToolFolder } from './read-tool-folder.ts'
import { watchToolFolder, type FolderChange } from './watch-tool-folder.ts'

const file = (name: string, description = 'Is a tool.') =>
  JSON.stringify({ name, description, command: 'true' })

/** A watched folder with these files in it, and what was heard of it. */
function watch(files: Readonly<Record<string, string>>, onChange: (change: FolderChange) => void = () => {}) {
  const base = mkdtempSync(join(tmpdir(), 'handrail-watch-'))
  const folder = join(base, 'tools')
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) put(name, text)
  const declaring = { checker: createSchemaChecker(), env: {} }
  const changes: string[] = []
  const issues: string[] = []
  const watching = watchToolFolder({
    folder,
    declaring,
    current: readToolFolder(folder, declaring),
    onChange(change) {
      onChange(change)
      changes.push(
        ...change.tools.map(({ tool }) => `${tool.definition.name}: ${tool.definition.description}`),
        ...change.removed.map((name) => `${name} removed`),
      )
    },
    onError: (message) => issues.push(message),
  })
  onTestFinished(() => {
    void watching.close()
    rmSync(base, { recursive: true, force: true })
  })
  const heard = async (list: string[], expected: readonly unknown[]) => {
    await vi.waitFor(() => expect(list).toEqual(expected))
    list.length = 0
  }
  return { folder, put, changes, issues, heard }
}

test('tells what came, changed and went, once each, and of nothing else', async () => {
  const { folder, put, changes, issues, heard } = watch({
    'a.json': file('demo.a'),
    'b.json': file('demo.b'),
  })
  put('c.json', file('demo.c'))
  put('notes.txt', 'no tool')
  put('.c.json.swp', 'no tool')
  await heard(changes, ['demo.c: Is a tool.'])
  put('a.json', file('demo.a', 'Is another.'))
  rmSync(join(folder, 'b.json'))
  await heard(changes, ['demo.a: Is another.', 'demo.b removed'])
  utimesSync(join(folder, 'a.json'), new Date(), new Date())
  renameSync(join(folder, 'c.json'), join(folder, 'd.json'))
  put('e.json', file('demo.e'))
  await heard(changes, ['demo.e: Is a tool.'])
  expect(issues).toEqual([])
})

test('a file at fault leaves its tool in force and is told once; going for good, it takes the tool with it', async () => {
  const { folder, put, changes, issues, heard } = watch({ 'a.json': file('demo.a') })
  put('a.json', file('demo.a').slice(0, -5))
  await heard(issues, [expect.stringContaining('not valid JSON')])
  put('b.json', file('demo.b'))
  await heard(changes, ['demo.b: Is a tool.'])
  expect(issues).toEqual([])
  rmSync(join(folder, 'a.json'))
  await heard(changes, ['demo.a removed'])
})

test('a file with the name of another takes it by the order of file names only', async () => {
  const { folder, put, changes, issues, heard } = watch({ 'b.json': file('demo.x', 'Of b.') })
  put('c.json', file('demo.x', 'Of c.'))
  await heard(issues, [expect.stringContaining('c.json')])
  expect(changes).toEqual([])
  rmSync(join(folder, 'b.json'))
  await heard(changes, ['demo.x: Of c.'])
})

test('a folder that cannot be read leaves all in force, and one that is gone takes all', async () => {
  const { folder, changes, issues, heard } = watch({ 'a.json': file('demo.a') })
  renameSync(folder, `${folder}.aside`)
  writeFileSync(folder, 'a file')
  await heard(issues, [expect.stringContaining('ENOTDIR')])
  expect(changes).toEqual([])
  rmSync(folder)
  await heard(changes, ['demo.a removed'])
  renameSync(`${folder}.aside`, folder)
  await heard(changes, ['demo.a: Is a tool.'])
})

test('a change that could not be taken over is told, and comes again with the next', async () => {
  let fails = true
  const { put, changes, issues, heard } = watch({}, () => {
    if (fails) throw new Error('the store is full')
  })
  put('a.json', file('demo.a'))
  await heard(issues, ['the store is full'])
  fails = false
  put('b.json', file('demo.b'))
  await heard(changes, ['demo.a: Is a tool.', 'demo.b: Is a tool.'])
})
