import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { EffectHistory } from '../../../contract/base/effects.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import { makeTree, plainly } from './land.fixture.ts'
import { land } from './land.ts'
import { recoverLanding } from './recover-landings.ts'

const none = { kind: 'none' } as const

test('files, links and folders land, are replaced and removed together', async () => {
  const tree = makeTree({ a: 'a', b: 'b', 'd/x': 'x', 'e/y': 'y' })
  const { item, file } = tree
  symlinkSync('a', join(tree.root, 'l'))
  await tree.begin()
  await land(
    [
      item('a', 'file', file('A', 0o600)),
      item('b', 'file', none),
      item('d', 'directory', none),
      item('e', 'directory', { kind: 'directory', mode: 0o755 }),
      item('n', 'none', { kind: 'directory', mode: 0o555 }),
      item('n/m', 'none', { kind: 'directory', mode: 0o700 }),
      item('n/m/z', 'none', file('z')),
      item('k', 'none', { kind: 'link', target: '/etc' }),
    ],
    plainly,
  )
  expect(tree.all()).toEqual({
    a: 'file 600 A',
    e: 'directory 755',
    'e/y': 'file 644 y',
    k: 'link /etc',
    l: 'link a',
    n: 'directory 555',
    'n/m': 'directory 700',
    'n/m/z': 'file 644 z',
  })
})

type Tree = ReturnType<typeof makeTree>

test.each<[what: string, reason: string, change: (tree: Tree) => void]>([
  ['a file is written', 'stale_preview', ({ put }) => put('a', 'other')],
  ['a file is removed', 'stale_preview', ({ root }) => rmSync(join(root, 'a'))],
  [
    'a file becomes a link',
    'stale_preview',
    ({ root }) => {
      rmSync(join(root, 'a'))
      symlinkSync('b', join(root, 'a'))
    },
  ],
  ['a mode is set', 'stale_preview', ({ root }) => chmodSync(join(root, 'a'), 0o600)],
  ['a removed file is written', 'stale_preview', ({ put }) => put('b', 'other')],
  ['a file in a removed folder is written', 'stale_preview', ({ put }) => put('d/deep/x', 'other')],
  ['a file is made in a removed folder', 'stale_preview', ({ put }) => put('d/deep/y', 'other')],
  ['a file is where a new one lands', 'path_conflict', ({ put }) => put('new', 'other')],
  [
    'a link is where a new folder lands',
    'path_conflict',
    ({ root }) => symlinkSync('/etc', join(root, 'made')),
  ],
  [
    'the folder of a new file is gone',
    'stale_preview',
    ({ root }) => rmSync(join(root, 'e'), { recursive: true }),
  ],
  [
    'the folder of a new file is a link',
    'stale_preview',
    ({ root }) => {
      renameSync(join(root, 'e'), join(root, 'f'))
      symlinkSync('f', join(root, 'e'))
    },
  ],
  [
    'a folder whose mode changes is a file',
    'stale_preview',
    ({ root }) => {
      rmSync(join(root, 'g'), { recursive: true })
      writeFileSync(join(root, 'g'), '')
    },
  ],
])('nothing lands if %s meanwhile', async (_what, reason, change) => {
  const tree = makeTree({ a: 'a', b: 'b', 'd/deep/x': 'x', 'e/y': 'y' })
  mkdirSync(join(tree.root, 'g'))
  const { item, file } = tree
  await tree.begin()
  change(tree)
  const before = tree.all()
  const items = [
    item('a', 'file', file('A')),
    item('b', 'file', none),
    item('d', 'directory', none),
    item('e/new', 'none', file('new')),
    item('g', 'directory', { kind: 'directory', mode: 0o700 }),
    item('made', 'none', { kind: 'directory', mode: 0o755 }),
    item('new', 'none', file('new')),
  ]
  await expect(land(items, plainly)).rejects.toMatchObject({ reason })
  expect(tree.all()).toEqual(before)
})

test('a special file, or a link, never passes for the content of a new file', async () => {
  const tree = makeTree({ a: 'a' })
  const { item, above } = tree
  execFileSync('mkfifo', [join(above, 'pipe')])
  symlinkSync('/etc/passwd', join(above, 'link'))
  await tree.begin()
  for (const name of ['pipe', 'link', 'missing', 'root']) {
    const to = { kind: 'file', mode: 0o644, from: join(above, name), keepTimes: false } as const
    await expect(land([item('a', 'file', to), item('b', 'none', to)], plainly)).rejects.toBeInstanceOf(
      ToolFailure,
    )
    expect(tree.all()).toEqual({ a: 'file 644 a' })
  }
})

test('no set-id and no sticky bit lands', async () => {
  const tree = makeTree()
  const { item, file } = tree
  await tree.begin()
  const to = { kind: 'directory', mode: 0o7777 } as const
  await land([item('a', 'none', file('a', 0o6755)), item('d', 'none', to)], plainly)
  expect(tree.all()).toEqual({ a: 'file 755 a', d: 'directory 777' })
})

test('hard links of one file are replaced and removed one by one', async () => {
  const tree = makeTree({ a: 'a', 'd/x': 'x' })
  const { item, file, root } = tree
  linkSync(join(root, 'a'), join(root, 'b'))
  linkSync(join(root, 'a'), join(root, 'c'))
  linkSync(join(root, 'a'), join(root, 'd/a'))
  await tree.begin()
  await land(
    [
      item('a', 'file', file('A')),
      item('b', 'file', none),
      item('c', 'file', file('C')),
      item('d', 'directory', none),
    ],
    plainly,
  )
  expect(tree.all()).toEqual({ a: 'file 644 A', c: 'file 644 C' })
})

test('a history keeps what is replaced and removed, and records every path, before anything is in force', async () => {
  const tree = makeTree({ a: 'a', 'd/x': 'x', 'd/e/y': 'y' })
  const { item, file, root } = tree
  await tree.begin()
  const before = tree.all()
  const kept: string[] = []
  const history: EffectHistory = {
    async keep({ digest, open }) {
      let content = ''
      for await (const piece of open()) content += Buffer.from(piece).toString()
      expect(digest).toBe(fileDigest(content))
      kept.push(content)
      return true
    },
    async record(effects) {
      expect(tree.all()).toMatchObject(before)
      expect(effects.map(({ path }) => path)).toEqual(
        ['a', 'd', 'd/e', 'd/e/y', 'd/x', 'n'].map((path) => join(root, path)),
      )
    },
  }
  const effects = await land(
    [
      item('a', 'file', file('A')),
      item('d', 'directory', none),
      item('n', 'none', { kind: 'link', target: 'a' }),
    ],
    { ...plainly, history },
  )
  expect(kept.toSorted()).toEqual(['a', 'x', 'y'])
  const state = (content: string) => ({ kind: 'file', mode: 0o644, bytes: 1, digest: fileDigest(content) })
  expect(effects[0]).toEqual({ path: join(root, 'a'), before: state('a'), after: state('A') })
  expect(effects.at(-1)).toEqual({
    path: join(root, 'n'),
    before: none,
    after: { kind: 'link', target: 'a' },
  })
  // Each of them can be taken back by what is recorded.
  const contents: Record<string, string> = { a: 'a', 'd/x': 'x', 'd/e/y': 'y' }
  await land(
    effects.map(({ path, before: state, after }) => {
      const name = path.slice(root.length + 1)
      const to = state.kind === 'file' ? file(contents[name] ?? '') : state.kind === 'special' ? none : state
      return { root, path: name, to, expect: { state: after } }
    }),
    plainly,
  )
  expect(tree.all()).toEqual(before)
})

test('what is removed by its state stays if there is more in it', async () => {
  const tree = makeTree({ 'd/x': 'x', 'd/more': 'more' })
  const { root } = tree
  const before = tree.all()
  const items = [
    { root, path: 'd', to: none, expect: { state: { kind: 'directory', mode: 0o755 } } },
    {
      root,
      path: 'd/x',
      to: none,
      expect: { state: { kind: 'file', mode: 0o644, bytes: 1, digest: fileDigest('x') } },
    },
  ] as const
  await expect(land(items, plainly)).rejects.toMatchObject({ reason: 'stale_preview' })
  expect(tree.all()).toEqual(before)
})

test('what another program changed since a landing stays when it is taken back, and the content of before gets a name beside it', async () => {
  const tree = makeTree({ a: 'a', b: 'b', 'd/x': 'x', gone: 'gone' })
  const { item, file, root, put } = tree
  await tree.begin()
  const items = [
    item('a', 'file', file('A')),
    item('b', 'file', file('B')),
    item('d', 'directory', none),
    item('gone', 'file', none),
    item('new', 'none', file('new')),
    item('made', 'none', { kind: 'directory', mode: 0o755 }),
    item('made/x', 'none', file('x')),
  ]
  const note = landAndStop(items)
  put('a', 'mine')
  put('new', 'mine')
  put('made/y', 'mine')
  put('gone', 'mine')
  const left = await recoverLanding(note)
  expect(left?.map(({ path }) => path.slice(root.length + 1)).toSorted()).toEqual([
    'a',
    'gone',
    'made',
    'new',
  ])
  const kept = Object.fromEntries(
    left?.map(({ path, kept: to }) => [path.slice(root.length + 1), to && readFileSync(to, 'utf8')]) ?? [],
  )
  expect(kept).toEqual({ a: 'a', gone: 'gone', made: undefined, new: undefined })
  const all = Object.entries(tree.all()).filter(([path]) => !path.includes('.before-'))
  expect(Object.fromEntries(all)).toEqual({
    a: 'file 644 mine',
    b: 'file 644 b',
    d: 'directory 755',
    'd/x': 'file 644 x',
    gone: 'file 644 mine',
    made: 'directory 755',
    'made/x': 'file 644 x',
    'made/y': 'file 644 mine',
    new: 'file 644 mine',
  })
})

/** Lands in a process that is killed before the landing is over. Returns its note. */
function landAndStop(items: Parameters<typeof land>[0]): string {
  const script = join(import.meta.dirname, 'land-and-stop.fixture.ts')
  const input = JSON.stringify(items, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const ended = spawnSync(process.execPath, [script], { input, encoding: 'utf8' })
  expect(ended.stderr).toBe('')
  return ended.stdout.trim()
}

const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0

test.runIf(canMount)('a full disk fails a landing before anything is in force', () => {
  const script = join(import.meta.dirname, 'full-disk.fixture.ts')
  const line = 'mount -t tmpfs -o size=256k,nr_inodes=40 none "$1" && exec "$2" "$3" "$1"'
  const above = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(above, { recursive: true }))
  const argv = ['-rm', 'sh', '-c', line, 'sh', above, process.execPath, script]
  const ended = spawnSync('unshare', argv, { encoding: 'utf8' })
  expect(ended.stderr).toBe('')
  expect(JSON.parse(ended.stdout)).toEqual({
    reasons: ['no_space', 'no_space'],
    all: { a: 'file 644 a', b: 'file 644 b' },
  })
})
