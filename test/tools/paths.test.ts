import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Mode, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { atEveryDoor } from '../promises/doors/doors.ts'
import { makePlace } from '../support/command-line.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

atEveryDoor((door) => {
  test('a folder is copied, moved and deleted after a yes, and never without one (FILE-9)', async () => {
    const place = makePlace({ 'lib/a.txt': 'a', 'lib/deep/b.txt': 'b' })
    const at = door.at(place)
    const file = (path: string) => join(place.project, path)
    const yes = { approve: 'once' } as const
    for (const [tool, input] of [
      ['code.copy_path', { from: 'lib', to: 'copy' }],
      ['code.move_path', { from: 'lib', to: 'moved' }],
      ['code.delete_path', { path: 'lib', recursive: true }],
    ] as const)
      expect(await at.call(tool, input, { approve: 'deny' })).toMatchObject({
        ok: false,
        code: 'POLICY.APPROVAL_DENIED',
      })
    expect(readdirSync(place.project)).toEqual(['lib'])
    expect(await at.call('code.copy_path', { from: 'lib', to: 'new/copy' }, yes)).toMatchObject({ ok: true })
    expect(await at.call('code.move_path', { from: 'lib/a.txt', to: 'c.txt' }, yes)).toMatchObject({
      ok: true,
    })
    expect(readFileSync(file('new/copy/deep/b.txt'), 'utf8')).toBe('b')
    expect(await at.call('code.delete_path', { path: 'lib' }, yes)).toMatchObject({
      ok: false,
      code: 'TOOL.FAILED',
      reason: 'not_empty',
    })
    expect(await at.call('code.delete_path', { path: 'lib', recursive: true }, yes)).toMatchObject({
      ok: true,
    })
    expect(readdirSync(place.project).sort()).toEqual(['c.txt', 'new'])
  })

  test('a folder that changes while a person looks at what would go makes their yes stale (PERM-3)', async () => {
    const place = makePlace({ 'lib/a.txt': 'a' })
    const changing = (name: string) => ({
      approve: 'once' as const,
      meanwhile: () => writeFileSync(join(place.project, 'lib', name), 'new'),
    })
    const at = door.at(place)
    for (const [index, [tool, input]] of [
      ['code.delete_path', { path: 'lib', recursive: true }] as const,
      ['code.move_path', { from: 'lib', to: 'moved' }] as const,
      ['code.copy_path', { from: 'lib', to: 'copied' }] as const,
    ].entries())
      expect([tool, await at.call(tool, input, changing(`${index}.txt`))]).toMatchObject([
        tool,
        { code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' },
      ])
    expect(readdirSync(place.project)).toEqual(['lib'])
    expect(readdirSync(join(place.project, 'lib'))).toHaveLength(4)
  })

  test('a link that takes the place of a folder during the question leads nowhere (FS-32)', async () => {
    const outside = makeFolder({ 'canary.txt': 'canary' })
    const place = makePlace({ 'a.txt': 'a' })
    mkdirSync(join(place.project, 'to'))
    const answer = await door.at(place).call(
      'code.move_path',
      { from: 'a.txt', to: 'to/a.txt' },
      {
        approve: 'once',
        meanwhile: () => {
          writeFileSync(join(place.project, 'x'), '')
          symlinkSync(outside, join(place.project, 'link'))
          for (const [from, to] of [
            ['to', 'was'],
            ['link', 'to'],
          ] as const)
            renameIn(place.project, from, to)
        },
      },
    )
    expect(answer.ok).toBe(false)
    expect(readdirSync(outside)).toEqual(['canary.txt'])
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('a')
  })
})

function renameIn(folder: string, from: string, to: string): void {
  renameSync(join(folder, from), join(folder, to))
}

async function sessionOver(
  files: Record<string, string>,
  { rules = [], mode = 'default' }: { rules?: Rule[]; mode?: Mode } = {},
) {
  const project = makeFolder(files)
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: person.approve,
    policy: { rules },
  })
  return { project, asked: person.asked, session: runtime.session({ mode }) }
}

test('the person sees every name, how much it is, and what is replaced (PERM-3)', async () => {
  const { project, session, asked } = await sessionOver({ 'lib/a.txt': 'one', 'lib/b/c.txt': '', old: 'old' })
  symlinkSync('/etc/passwd', join(project, 'lib/link'))
  await session.call('code.delete_path', { path: 'lib', recursive: true })
  expect(asked[0]?.preview?.title).toBe('Delete lib (2 files, 2 folders, 1 link, 3 bytes)')
  expect(asked[0]?.preview?.body).toMatch(
    /^lib\/\nlib\/a\.txt\t3\nlib\/b\/\nlib\/b\/c\.txt\t0\nlib\/link@\n\[2 files.*; digest of all of it [\w-]{43}\]$/,
  )
  expect(existsSync('/etc/passwd')).toBe(true)
  writeFileSync(join(project, 'new'), 'new!')
  const input = { from: 'new', to: 'old', overwrite: true }
  const moved = await session.call('code.move_path', input)
  expect(moved.data).toEqual({ from: 'new', to: 'old', entries: 1, files: 1, bytes: 4, replaced: true })
  expect(asked[1]?.preview?.title).toBe('Move new to old (1 file, 4 bytes, replacing 1 file, 3 bytes)')
  expect(readFileSync(join(project, 'old'), 'utf8')).toBe('new!')
})

test('nothing is replaced unasked, and a folder never (FILE-5)', async () => {
  const { project, session } = await sessionOver({ a: 'a', b: 'b', letter: '', 'd/x': 'x', 'e/y': 'y' })
  for (const tool of ['code.copy_path', 'code.move_path'])
    for (const input of [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'd', overwrite: true },
      { from: 'd', to: 'e', overwrite: true },
      { from: 'd', to: 'b', overwrite: true },
      { from: 'd', to: 'd/x/y' },
    ])
      expect([tool, input, (await session.call(tool, input)).error?.reason]).toEqual([
        tool,
        input,
        'path_conflict',
      ])
  expect(
    (await session.call('code.copy_path', { from: 'a', to: 'n/o/a', create_dirs: false })).error,
  ).toMatchObject({ reason: 'file_not_found' })
  expect((await session.call('code.delete_path', { path: 'lettr' })).error?.message).toContain(
    'Did you mean "letter"',
  )
  expect(readFileSync(join(project, 'b'), 'utf8')).toBe('b')
})

test('a link is moved and deleted itself: symlink write FS-37', async () => {
  const outside = makeFolder({ 'canary.txt': 'canary' })
  const { project, session } = await sessionOver({})
  symlinkSync(outside, join(project, 'link'))
  expect((await session.call('code.move_path', { from: 'link', to: 'other' })).ok).toBe(true)
  expect(lstatSync(join(project, 'other')).isSymbolicLink()).toBe(true)
  expect((await session.call('code.copy_path', { from: 'other', to: 'third' })).ok).toBe(true)
  expect((await session.call('code.delete_path', { path: 'other', recursive: true })).ok).toBe(true)
  expect(readdirSync(project)).toEqual(['third'])
  expect(readdirSync(outside)).toEqual(['canary.txt'])
})

test('a sensitive file in a folder is asked for by name, in accept-edits too (FILE-8)', async () => {
  const { session, asked } = await sessionOver(
    { 'lib/a.txt': '', 'app/deep/.env': 'SECRET', 'x.txt': '' },
    { mode: 'accept-edits' },
  )
  expect((await session.call('code.copy_path', { from: 'lib', to: 'lib2' })).ok).toBe(true)
  expect((await session.call('code.move_path', { from: 'lib2', to: 'lib3' })).ok).toBe(true)
  expect((await session.call('code.delete_path', { path: 'lib3', recursive: true })).ok).toBe(true)
  expect(asked).toEqual([])
  await session.call('code.copy_path', { from: 'app', to: 'app2' })
  await session.call('code.move_path', { from: 'app', to: 'app3' })
  await session.call('code.move_path', { from: 'x.txt', to: 'server.key' })
  await session.call('code.delete_path', { path: 'app2', recursive: true })
  expect(asked.map(({ because }) => because.rule)).toEqual(Array(4).fill('sensitive-path'))
  expect(asked[0]?.because.reason).toContain('/app/deep/.env')
})

test('a rule on one file holds for every folder that it lies in (AUTH-2)', async () => {
  const rules: Rule[] = [
    { effect: 'deny', resources: ['handrail:file:{project}/data/keep/**'] },
    { effect: 'allow', tools: ['code.*_path'] },
  ]
  const { project, session } = await sessionOver(
    { 'data/keep/a': 'a', 'data/go/b': 'b', 'data/c': 'c' },
    { rules },
  )
  for (const [tool, input] of [
    ['code.delete_path', { path: 'data', recursive: true }],
    ['code.move_path', { from: 'data', to: 'other' }],
    ['code.copy_path', { from: 'data', to: 'other' }],
    ['code.move_path', { from: 'data/c', to: 'data/keep/c' }],
  ] as const)
    expect([tool, (await session.call(tool, input)).error]).toMatchObject([
      tool,
      { code: 'POLICY.DENY_TOOL', reason: 'rule_denied' },
    ])
  expect((await session.call('code.delete_path', { path: 'data/go', recursive: true })).ok).toBe(true)
  expect(readdirSync(join(project, 'data')).sort()).toEqual(['c', 'keep'])
})

test('outside, the project itself and what is protected stay as they are (FILE-9, FS-41, FS-50)', async () => {
  const { project, session } = await sessionOver({ 'pkg/.vscode/tasks.json': '{}', a: 'a' })
  const outcomes = [
    ['code.delete_path', { path: '.', recursive: true }, 'write_outside_allowed_roots'],
    ['code.delete_path', { path: project, recursive: true }, 'write_outside_allowed_roots'],
    ['code.delete_path', { path: '..', recursive: true }, 'write_outside_allowed_roots'],
    ['code.delete_path', { path: '/etc/passwd' }, 'write_outside_allowed_roots'],
    ['code.copy_path', { from: '/etc/passwd', to: 'p' }, 'path_outside_roots'],
    ['code.copy_path', { from: 'a', to: '../p' }, 'write_outside_allowed_roots'],
    ['code.move_path', { from: 'a', to: '/tmp/handrail-moved' }, 'write_outside_allowed_roots'],
    ['code.delete_path', { path: 'pkg', recursive: true }, 'protected_path'],
    ['code.move_path', { from: 'pkg', to: 'pkg2' }, 'protected_path'],
    ['code.copy_path', { from: 'a', to: '.git/hooks/pre-commit' }, 'protected_path'],
    ['code.move_path', { from: 'a', to: '.ENVRC' }, 'protected_path'],
  ] as const
  for (const [tool, input, reason] of outcomes)
    expect([input, (await session.call(tool, input)).error]).toMatchObject([
      input,
      { code: 'SANDBOX.CAPABILITY_BLOCKED', reason },
    ])
  expect(readdirSync(project).sort()).toEqual(['a', 'pkg'])
})

test('more than 2000 things at once are left alone, and said to be', async () => {
  const { project, session } = await sessionOver({})
  mkdirSync(join(project, 'many'))
  for (let i = 0; i < 2_000; i++) writeFileSync(join(project, 'many', `${i}`), '')
  for (const [tool, input] of [
    ['code.delete_path', { path: 'many', recursive: true }],
    ['code.copy_path', { from: 'many', to: 'more' }],
  ] as const)
    expect((await session.call(tool, input)).error).toMatchObject({ reason: 'too_many_files' })
  expect(readdirSync(join(project, 'many')).length).toBe(2_000)
})
