import { linkSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const canary = 'canary-behind-a-second-name'

/** A project whose secret, in each of its places, has a second name that nothing speaks of. */
async function open({ rules = [], yes = false }: { rules?: Rule[]; yes?: boolean } = {}) {
  const project = makeFolder({
    'secret.txt': canary,
    '.env': canary,
    'kept/deep/a.txt': canary,
    'open.txt': 'open',
  })
  mkdirSync(join(project, 'd'))
  for (const [index, path] of ['secret.txt', '.env', 'kept/deep/a.txt', 'open.txt'].entries())
    linkSync(join(project, path), join(project, `d/alias${index}`))
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    policy: { rules },
    ...(yes && { approve: person.approve }),
  })
  return { project, asked: person.asked, session: runtime.session() }
}

const rules: Rule[] = [
  { effect: 'deny', resources: ['handrail:file:{project}/secret.txt'] },
  { effect: 'deny', resources: ['handrail:file:{project}/kept/**'] },
  { effect: 'allow', tools: ['code.*'] },
]

test('a second name of a denied or sensitive file gives nothing of it away: symlink FS-26 (AUTH-2, FILE-8)', async () => {
  const { project, session } = await open({ rules })
  for (const path of ['d/alias0', 'd/alias1', 'd/alias2']) {
    for (const [tool, input] of [
      ['code.read_file', { path }],
      ['code.edit_file', { path, edits: [{ old: 'canary', new: 'x' }] }],
      ['code.copy_path', { from: path, to: 'copy' }],
      ['code.copy_path', { from: 'd', to: 'copies' }],
    ] as const) {
      const { error, content } = await session.call(tool, input)
      expect([tool, path, error]).toMatchObject([
        tool,
        path,
        { code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'sensitive_path' },
      ])
      expect(JSON.stringify(content)).not.toContain(canary)
    }
    for (const mode of ['content', 'count', 'files']) {
      const found = await session.call('code.search', { query: 'canary-behind', mode, path: 'd' })
      expect([mode, JSON.stringify(found.data)]).not.toEqual([mode, expect.stringContaining('alias')])
      expect(found.ok).toBe(true)
    }
    const alone = await session.call('code.search', { query: 'canary-behind', path })
    expect(JSON.stringify(alone)).not.toContain(canary)
  }
  expect(readFileSync(join(project, 'd/alias0'), 'utf8')).toBe(canary)
})

test('a second name of any other file is like its first one: symlink FS-26', async () => {
  const { session } = await open({ rules })
  for (const path of ['open.txt', 'd/alias3'])
    expect((await session.call('code.read_file', { path })).data).toMatchObject({ content: 'open' })
  const found = await session.call('code.search', { query: 'open' })
  expect(JSON.stringify(found.data)).toContain('d/alias3')
})

test('what the person allows by its own name is read, however many it has: symlink FS-26 (FILE-8)', async () => {
  const { session, asked } = await open({ yes: true })
  expect((await session.call('code.read_file', { path: '.env' })).data).toMatchObject({ content: canary })
  expect(asked.map(({ because }) => because.rule)).toEqual(['sensitive-path'])
  expect((await session.call('code.read_file', { path: 'd/alias1' })).error?.reason).toBe('sensitive_path')
})
