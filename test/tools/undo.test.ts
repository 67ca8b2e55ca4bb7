import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Session, ToolResult } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, personSaying } from '../support/project.ts'
import { imageOf, openProject } from '../support/undo.ts'

async function done(result: Promise<ToolResult>): Promise<ToolResult> {
  const ended = await result
  expect(ended.error).toBeUndefined()
  return ended
}

const write = (session: Session, path: string, content: string) =>
  done(session.call('code.write_file', { path, content, overwrite: true }))

test('every change of a file tool is taken back: contents, modes, links, new and empty folders', async () => {
  const { project, session } = await openProject({ 'a.sh': 'old\n', 'd/b.bin': Buffer.from([0, 255, 1]) })
  chmodSync(join(project, 'a.sh'), 0o755)
  mkdirSync(join(project, 'd/empty'), { mode: 0o700 })
  symlinkSync('b.bin', join(project, 'd/link'))
  const images = [imageOf(project)]
  const steps: [string, object][] = [
    ['code.edit_file', { path: 'a.sh', edits: [{ old: 'old', new: 'new' }] }],
    ['code.write_file', { path: 'x/y/z.txt', content: 'z' }],
    ['code.copy_path', { from: 'd', to: 'x/d' }],
    ['code.move_path', { from: 'd', to: 'e/f/g' }],
    ['code.move_path', { from: 'x/y/z.txt', to: 'a.sh', overwrite: true }],
    ['code.delete_path', { path: 'e', recursive: true }],
    ['code.delete_path', { path: 'x', recursive: true }],
  ]
  for (const [tool, input] of steps) {
    await done(session.call(tool, input))
    images.push(imageOf(project))
  }
  for (const before of images.slice(0, -1).toReversed()) {
    await done(session.call('code.undo'))
    expect(imageOf(project)).toEqual(before)
  }
  expect((await session.call('code.undo')).error).toMatchObject({ reason: 'nothing_to_undo' })
})

test('what a command changed is taken back, byte for byte, whatever it did', async () => {
  const { project, session } = await openProject(
    { 'a.txt': 'one\n', 'b.txt': 'b', 'sub/c.txt': 'c' },
    { sandbox: { kind: 'bubblewrap', hold: 'always' } },
  )
  chmodSync(join(project, 'b.txt'), 0o755)
  const before = imageOf(project)
  const lines = [
    'echo two >> a.txt; rm b.txt; mkdir -p new/deep; echo n > new/deep/n; mv sub moved; ln -s a.txt link',
    'rm -r new; mkdir a; chmod 600 a.txt; rm link; mkdir link',
  ]
  const images = [before]
  for (const line of lines) {
    await done(session.call('code.run_command', { argv: ['sh', '-c', line] }))
    images.push(imageOf(project))
  }
  expect(new Set(images.map((each) => JSON.stringify(each))).size).toBe(3)
  for (const image of images.slice(0, -1).toReversed()) {
    await done(session.call('code.undo'))
    expect(imageOf(project)).toEqual(image)
  }
})

test.each(['d/a', 'other', 'missing'])(
  'a folder that became a link to %s comes back as a whole, by one undo or by one for each call',
  async (target) => {
    const { project, session } = await openProject({ 'd/a': 'one\n', 'd/e/f': 'f', 'other/a': 'x' })
    symlinkSync(target, join(project, 'link'))
    const before = imageOf(project)
    for (const undos of [[{ count: 2 }], [{}, {}]]) {
      await done(session.call('code.delete_path', { path: 'd', recursive: true }))
      await done(session.call('code.copy_path', { from: 'link', to: 'd' }))
      for (const input of undos) await done(session.call('code.undo', input))
      expect(imageOf(project)).toEqual(before)
    }
  },
)

test('a command that puts a link where a folder was, and a folder where a link was, is taken back', async () => {
  const { project, session } = await openProject(
    { 'd/a': 'one\n', 'd/e/f': 'f', 'other/a': 'x', 'other/e/f': 'y' },
    { sandbox: { kind: 'bubblewrap', hold: 'always' } },
  )
  symlinkSync('other', join(project, 'link'))
  const before = imageOf(project)
  const line = 'rm -r d link; ln -s other d; mkdir -p link/e; echo n > link/e/f; echo n > other/e/f'
  await done(session.call('code.run_command', { argv: ['sh', '-c', line] }))
  const after = imageOf(project)
  const { callId } = await done(session.call('code.undo'))
  expect(imageOf(project)).toEqual(before)
  await done(session.call('code.undo', { call: callId }))
  expect(imageOf(project)).toEqual(after)
})

test('a folder that became a link since the call is left alone, with what the link leads to', async () => {
  const { project, session } = await openProject({ 'd/a': 'one\n', 'other/a': 'one\n' })
  await write(session, 'd/a', 'two\n')
  rmSync(join(project, 'd'), { recursive: true })
  symlinkSync('other', join(project, 'd'))
  writeFileSync(join(project, 'other/a'), 'two\n')
  const before = imageOf(project)
  const refused = await session.call('code.undo')
  expect(refused.error).toMatchObject({ reason: 'changed_since', data: { path: 'd/a' } })
  expect(imageOf(project)).toEqual(before)
})

test('a folder that comes back for a link is decided by its own paths', async () => {
  const project = makeFolder({ 'd/a': 'one\n', 'other/a': 'x' })
  const resources = [`handrail:file:${project}/d/**`]
  const rules = [{ effect: 'deny' as const, tools: ['code.undo'], resources }]
  const { session } = await openProject({}, { project, policy: { rules } })
  symlinkSync('other', join(project, 'link'))
  await done(session.call('code.delete_path', { path: 'd', recursive: true }))
  await done(session.call('code.copy_path', { from: 'link', to: 'd' }))
  const before = imageOf(project)
  expect((await session.call('code.undo', { count: 2 })).error?.code).toBe('POLICY.DENY_TOOL')
  expect(imageOf(project)).toEqual(before)
})

test('a notebook cell is taken back too', async () => {
  const notebook = JSON.stringify({
    cells: [{ cell_type: 'code', execution_count: null, id: 'a', metadata: {}, outputs: [], source: ['1'] }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  })
  const { project, session } = await openProject({ 'n.ipynb': notebook })
  await done(session.call('code.edit_notebook', { path: 'n.ipynb', cell: 'a', source: '2' }))
  expect(readFileSync(join(project, 'n.ipynb'), 'utf8')).not.toBe(notebook)
  await done(session.call('code.undo'))
  expect(readFileSync(join(project, 'n.ipynb'), 'utf8')).toBe(notebook)
})

test('several calls are taken back as one step, and the undo itself can be', async () => {
  const { project, session } = await openProject({ 'a.txt': '0' })
  const first = imageOf(project)
  for (const content of ['1', '2', '3']) await write(session, 'a.txt', content)
  await write(session, 'new/b.txt', 'b')
  const last = imageOf(project)
  const undone = await done(session.call('code.undo', { count: 4 }))
  expect(imageOf(project)).toEqual(first)
  expect(undone.data).toMatchObject({ changed: 3, paths: ['a.txt', 'new', 'new/b.txt'] })
  const redone = await done(session.call('code.undo', { call: undone.callId }))
  expect(imageOf(project)).toEqual(last)
  // What was brought back can be taken back once more, by name or as the last.
  await done(session.call('code.undo'))
  expect(existsSync(join(project, 'new'))).toBe(false)
  // Of the redo only what still stands is taken back then.
  await done(session.call('code.undo', { call: redone.callId }))
  expect(imageOf(project)).toEqual(first)
})

test('calls that were taken back are not the last ones any more', async () => {
  const { project, session } = await openProject({ 'a.txt': '0', 'b.txt': '0' })
  await write(session, 'a.txt', '1')
  await write(session, 'b.txt', '1')
  await done(session.call('code.undo'))
  expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('0')
  await done(session.call('code.undo'))
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('0')
})

test('named calls of any session of the same actor, as one step', async () => {
  const { project, runtime, session } = await openProject({ 'a.txt': '0' })
  const one = await write(session, 'a.txt', '1')
  const two = await write(runtime.session(), 'a.txt', '2')
  const other = runtime.session()
  expect((await other.call('code.undo')).error).toMatchObject({ reason: 'nothing_to_undo' })
  await done(other.call('code.undo', { calls: [one.callId, two.callId] }))
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('0')
})

test('a person sees the calls, the paths and the differences, and a no changes nothing', async () => {
  const { project, runtime, session } = await openProject({ 'a.txt': 'one\ntwo\n' })
  const { callId } = await write(session, 'a.txt', 'one\nthree\n')
  const person = personSaying('deny')
  const refused = await session.call('code.undo', {}, { approve: person.approve })
  expect(refused.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED' })
  expect(person.asked).toHaveLength(1)
  const { title, body } = person.asked[0]?.preview ?? { title: '', body: '' }
  expect(title).toBe('Undo 1 call: 1 path')
  expect(body).toContain(`Takes back code.write_file of`)
  expect(body).toContain(callId)
  expect(body).toContain('Changes a.txt (8 bytes)')
  expect(body).toContain('-three\n+two\n')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\nthree\n')
  expect((await runtime.session().preflight('code.undo', { call: callId })).plan?.operations).toEqual([
    { kind: 'fs.write', path: join(project, 'a.txt') },
  ])
})

test('an undo is a call with evidence', async () => {
  const { runtime, session } = await openProject()
  await write(session, 'a.txt', '1')
  const { callId } = await done(session.call('code.undo'))
  const kinds = [...runtime.store.records({ call: callId })].map(({ text }) => JSON.parse(text).kind)
  expect(kinds).toEqual(['begin', 'end'])
})

test('a file that somebody changed, removed or replaced since is left alone, and so is all else', async () => {
  const changes: [string, (path: string) => void][] = [
    ['changed', (path) => writeFileSync(path, 'person')],
    ['removed', (path) => rmSync(path)],
    ['another mode', (path) => chmodSync(path, 0o600)],
    ['a folder', (path) => (rmSync(path), mkdirSync(path))],
    ['a link', (path) => (rmSync(path), symlinkSync('/etc/hostname', path))],
  ]
  for (const [what, change] of changes) {
    const { project, session } = await openProject({ 'a.txt': 'a', 'b.txt': 'b' })
    await write(session, 'a.txt', '1')
    await write(session, 'b.txt', '2')
    change(join(project, 'b.txt'))
    const image = imageOf(project)
    const { error } = await session.call('code.undo', { count: 2 })
    expect(error, what).toMatchObject({ reason: 'changed_since', data: { path: 'b.txt' } })
    expect(error?.message).toContain('"b.txt"')
    expect(imageOf(project)).toEqual(image)
  }
})

test('a new folder that something was put into since stays, with all else', async () => {
  const { project, session } = await openProject()
  await write(session, 'd/a.txt', 'a')
  writeFileSync(join(project, 'd/person.txt'), 'p')
  const { error } = await session.call('code.undo')
  expect(error).toMatchObject({ reason: 'changed_since', data: { path: 'd', stays: 'person.txt' } })
  expect(readdirSync(join(project, 'd')).sort()).toEqual(['a.txt', 'person.txt'])
})

test('a folder that became a link since leads an undo nowhere', async () => {
  const { project, session } = await openProject({ 'd/a.txt': 'old' })
  const outside = makeFolder({ 'a.txt': 'new' })
  await write(session, 'd/a.txt', 'new')
  for (const target of [outside, join(project, 'e')]) {
    if (existsSync(join(project, 'd')) && !existsSync(join(project, 'e')))
      renameSync(join(project, 'd'), join(project, 'e'))
    rmSync(join(project, 'd'), { force: true })
    symlinkSync(target, join(project, 'd'))
    const { error } = await session.call('code.undo')
    expect(error?.message).toContain('d/a.txt')
    expect(['changed_since', 'write_outside_allowed_roots']).toContain(error?.reason)
    expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('new')
  }
})

test('a call of another tenant or actor is unknown, like one that never was', async () => {
  const { project, runtime, session } = await openProject()
  const { callId } = await write(session, 'a.txt', '1')
  const messages = await Promise.all(
    [{ tenant: 'other' }, { actor: 'other' }].map(async (who) => {
      const { error } = await runtime.session(who).call('code.undo', { call: callId })
      expect(error).toMatchObject({ reason: 'unknown_call' })
      return error?.message.replace(callId, 'ID')
    }),
  )
  const missing = await session.call('code.undo', { call: 'call_none' })
  expect(new Set([...messages, missing.error?.message.replace('call_none', 'ID')]).size).toBe(1)
  expect(existsSync(join(project, 'a.txt'))).toBe(true)
})

test('rules, grants, sensitive and protected paths hold for an undo as for any write', async () => {
  const { project, runtime, session, person } = await openProject({ 'src/a.txt': 'old' })
  await write(session, 'src/a.txt', 'new')
  await write(session, '.env', 'KEY=1')
  await runtime.reload({ policy: { rules: [{ effect: 'allow', tools: ['code.*'] }] } })
  const asked = person.asked.length
  await done(session.call('code.undo'))
  expect(person.asked.length, 'a sensitive path asks').toBe(asked + 1)
  await runtime.reload({
    policy: {
      rules: [{ effect: 'deny', tools: ['code.undo'], resources: [`handrail:file:${project}/src/**`] }],
    },
  })
  expect((await session.call('code.undo')).error).toMatchObject({ reason: 'rule_denied' })
  await runtime.reload({ policy: { grants: [] } })
  expect((await session.call('code.undo')).error).toMatchObject({ code: 'AUTH.FORBIDDEN' })
  expect(readFileSync(join(project, 'src/a.txt'), 'utf8')).toBe('new')
})

test('what is kept too long, damaged or gone is not taken back, and says so', async () => {
  let now = Date.now()
  const options = { now: () => now, undo: { days: 1 } }
  const { project, kept, history, session, runtime } = await openProject({ 'a.txt': 'old' }, options)
  const { callId } = await write(session, 'a.txt', 'new')
  const content = () =>
    readdirSync(history, { recursive: true, encoding: 'utf8' }).find((name) => /[0-9a-f]{64}$/.test(name)) ??
    ''
  writeFileSync(join(history, content()), 'bad')
  expect((await session.call('code.undo')).error).toMatchObject({ reason: 'not_kept' })
  rmSync(join(history, content()))
  const gone = (await session.call('code.undo')).error
  expect(gone).toMatchObject({ reason: 'not_kept', data: { path: 'a.txt' } })
  await runtime.close()
  now += 2 * 24 * 60 * 60 * 1000
  const later = await openProject({}, { ...options, project, store: { path: join(kept, 'store.db') } })
  expect((await later.session.call('code.undo', { call: callId })).error).toMatchObject({
    reason: 'unknown_call',
  })
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('new')
})

test('what is larger than one call may keep is changed all the same, and not taken back', async () => {
  const { project, session } = await openProject({ 'a.txt': 'large' }, { undo: { callBytes: 4 } })
  await write(session, 'a.txt', 'new')
  const { error } = await session.call('code.undo')
  expect(error).toMatchObject({ reason: 'not_kept' })
  expect(error?.message).toContain('was too much to be kept')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('new')
})

test('of two undos at once one does it', async () => {
  const { project, session, runtime } = await openProject({ 'a.txt': 'old' })
  const { callId } = await write(session, 'a.txt', 'new')
  const both = await Promise.all([0, 1].map(() => runtime.session().call('code.undo', { call: callId })))
  expect(both.filter(({ ok }) => ok)).toHaveLength(1)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('old')
})

test('no tool reads the history, even where a root holds it and a rule lets everything through', async () => {
  const kept = makeFolder()
  const { session } = await openProject(
    { 'a.txt': 'secret of the person' },
    {
      store: { path: join(kept, 'store.db') },
      writeRoots: [kept],
      policy: {
        rules: [{ effect: 'allow', tools: ['code.*'], resources: ['handrail:file:/**'], sensitive: true }],
      },
    },
  )
  await write(session, 'a.txt', 'new')
  const history = join(kept, 'store.db.history')
  const [content = ''] = readdirSync(history, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  )
  expect(readFileSync(join(history, content), 'utf8')).toBe('secret of the person')
  const reads = [
    ['code.read_file', { path: join(history, content) }],
    ['code.list_dir', { path: history }],
    ['code.copy_path', { from: history, to: 'copy' }],
    ['code.move_path', { from: kept, to: 'moved' }],
    ['code.delete_path', { path: history, recursive: true }],
    ['code.write_file', { path: join(history, 'x'), content: '' }],
  ] as const
  for (const [tool, input] of reads)
    expect((await session.call(tool, input)).error, tool).toMatchObject({
      code: 'SANDBOX.CAPABILITY_BLOCKED',
    })
  const found = await session.call('code.search', { query: 'secret of', path: kept })
  expect(JSON.stringify(found.data)).not.toContain('secret of the person')
})

test('where nothing is kept, an undo says so and everything else works', async () => {
  for (const options of [{ undo: false }, { store: 'memory' as const }]) {
    const { session, history } = await openProject({}, options)
    await write(session, 'a.txt', '1')
    expect((await session.call('code.undo')).error).toMatchObject({ reason: 'service_missing' })
    expect(existsSync(history)).toBe(false)
  }
})

test('if the history cannot be written, a call changes nothing', async () => {
  const { project, session, history } = await openProject({ 'a.txt': 'old', 'd/b': 'b' })
  writeFileSync(history, 'a file where the folder should be')
  const calls = [
    ['code.write_file', { path: 'a.txt', content: 'new', overwrite: true }],
    ['code.write_file', { path: 'x/new.txt', content: 'new' }],
    ['code.move_path', { from: 'd', to: 'e' }],
    ['code.copy_path', { from: 'd', to: 'e' }],
    ['code.delete_path', { path: 'd', recursive: true }],
  ] as const
  const image = imageOf(project)
  for (const [tool, input] of calls) {
    expect((await session.call(tool, input)).error, tool).toMatchObject({
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'history_failed',
    })
    expect(imageOf(project), tool).toEqual(image)
  }
})

test('a yes for the session covers one undo, and not the next', async () => {
  const { session } = await openProject({ 'a.txt': '0' })
  await write(session, 'a.txt', '1')
  await write(session, 'a.txt', '2')
  const person = personSaying('allow_for_session')
  for (let round = 0; round < 2; round++)
    await done(session.call('code.undo', {}, { approve: person.approve }))
  expect(person.asked).toHaveLength(2)
})

test('what an undo brings back belongs to whom the folder belongs to', async () => {
  const { project, session } = await openProject({ 'd/a.txt': 'a' })
  await done(session.call('code.delete_path', { path: 'd', recursive: true }))
  await done(session.call('code.undo'))
  expect(statSync(join(project, 'd/a.txt')).uid).toBe(statSync(project).uid)
})

test('a copy over its equal changes nothing, and stands in the way of no undo', async () => {
  const { project, session } = await openProject({ 'a.txt': '0', 'b.txt': '1' })
  await write(session, 'a.txt', '1')
  await done(session.call('code.copy_path', { from: 'b.txt', to: 'a.txt', overwrite: true }))
  await done(session.call('code.undo'))
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('0')
  expect((await session.call('code.undo')).error).toMatchObject({ reason: 'nothing_to_undo' })
})
