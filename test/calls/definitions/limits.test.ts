import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeTools, defineTool, type ManifestSpec, type Operation, type ToolContext } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

const names = ['f0', 'f1', 'f2', 'f3']
const files = Object.fromEntries([...names, 'a/b/c/d/deep'].map((path) => [path, 'word\n']))

/** A tool that does something with files, within these limits. */
function toolWith(
  limits: NonNullable<ManifestSpec['limits']>,
  run: (context: Required<Pick<ToolContext, 'files' | 'search'>>) => Promise<unknown>,
) {
  return defineTool({
    name: 'demo.files',
    description: 'Does something with files.',
    permission: 'write',
    sideEffect: 'filesystem',
    capabilities: { fs: { read: ['*'], write: ['*'] } },
    scopes: [{ resource: 'file', action: 'write' }],
    needs: ['files', 'search'],
    limits,
    run: (context) => run(context) as never,
  })
}

async function call(...given: Parameters<typeof toolWith>) {
  const approve = personSaying('allow_once').approve
  const runtime = await openRuntime({ project: makeFolder(files), tools: [toolWith(...given)], approve })
  return runtime.session().call('demo.files')
}

const readAll = (paths: readonly string[]) => async (context: Pick<Required<ToolContext>, 'files'>) => {
  for (const path of paths) await context.files.read(path)
  return 'read'
}
const fileLimit = { code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'file_limit', data: { maxFiles: 2 } }

test('a call reads and writes no more files than its tool declares, each counted once (DEF-5)', async () => {
  expect((await call({ maxFiles: 2 }, readAll(['f0', './f0', 'f1', 'f1']))).data).toBe('read')
  expect((await call({ maxFiles: 2 }, readAll(names))).error).toMatchObject(fileLimit)
  const written = await call({ maxFiles: 2 }, async (context) => {
    await readAll(['f0', 'f1'])(context)
    return context.files.write('f4', Buffer.from('x'), { createDirs: false, expect: 'absent' })
  })
  expect(written.error).toMatchObject(fileLimit)
  const pieces = await call({ maxFiles: 2 }, async (context) => {
    for (const name of names)
      for await (const piece of context.files.chunks(name)) expect(piece.length).toBe(5)
  })
  expect(pieces.error).toMatchObject(fileLimit)
})

test('listings, searches and trees go no deeper than a tool declares, and tell of no more files (DEF-5)', async () => {
  const found = (await call({ maxFiles: 2, maxDepth: 2 }, async (context) => {
    const list = await context.files.list('.', { recursive: true, limit: 100 })
    const request = { pattern: 'word', path: '.', limit: 100, exclude: [] }
    const modes = ['content', 'files', 'count'] as const
    const searches = await Promise.all(modes.map((mode) => context.search.find({ ...request, mode })))
    return {
      list: list.entries.map(({ path }) => path),
      searches: searches.map(({ hits, truncated }) => [hits.map(({ path }) => path), truncated]),
    }
  }).then(({ data }) => data)) as object
  expect(found).toEqual({
    list: ['a', 'a/b', ...names],
    searches: [1, 2, 3].map(() => [['f0', 'f1'], true]),
  })
  const deep = await call({ maxDepth: 2 }, async (context) => {
    const bounds = { maxEntries: 1_000, maxDepth: 64, purpose: 'read' as const }
    return (await context.files.survey('a', bounds))?.files
  })
  expect(deep.error?.message).toContain('more than 2 folders deep')
})

test('a plan that names more files than its tool may open goes no further (DEF-5)', async () => {
  const tool = defineTool({
    name: 'demo.plan',
    description: 'Plans to read files.',
    permission: 'readonly',
    sideEffect: 'read',
    capabilities: { fs: { read: ['*'] } },
    needs: ['files'],
    limits: { maxFiles: 2 },
    input: { type: 'object', properties: {} },
    plan: async (_, context) => ({
      operations: await Promise.all(
        names.map(async (name): Promise<Operation> => ({
          kind: 'fs.read',
          path: (await context.files?.resolve(name, 'read')) ?? '',
        })),
      ),
    }),
    run: () => 'never',
  })
  const runtime = await openRuntime({ project: makeFolder(files), tools: [tool] })
  expect((await runtime.session().preflight('demo.plan', {})).error).toMatchObject(fileLimit)
  expect((await runtime.session().call('demo.plan', {})).error).toMatchObject(fileLimit)
})

test.each([
  [false, false, 'write_outside_allowed_roots'],
  [true, false, 'write_outside_allowed_roots'],
  [false, true, 'write_outside_allowed_roots'],
  [true, true, undefined],
])(
  'the folder for temporary files is there where the manifest (%s) and the operator (%s) say so (DEF-4)',
  async (manifest, operator, reason) => {
    const tool = defineTool({
      name: 'demo.tmp',
      description: 'Would write.',
      permission: 'write',
      sideEffect: 'filesystem',
      capabilities: { tmp: manifest, fs: { read: ['*'], write: ['*'] } },
      scopes: [{ resource: 'file', action: 'write' }],
      rawInput: { type: 'object' },
      plan: () => ({
        operations: [{ kind: 'fs.write', path: join(realpathSync(tmpdir()), 'handrail-not-written') }],
      }),
      run: () => 'would write',
    })
    const approve = personSaying('allow_once').approve
    const runtime = await openRuntime({ tools: [tool, codeTools()], tmp: operator, approve })
    const session = runtime.session()
    expect((await session.call('demo.tmp', {})).error?.reason).toBe(reason)
    // What is below it, such as this project, is another root.
    const written = await session.call('code.write_file', { path: 'a.txt', content: 'x' })
    expect(written.ok).toBe(true)
  },
)

test('a write root that names the folder for temporary files needs its capability (DEF-4, DEF-8)', async () => {
  const tool = defineTool({
    name: 'demo.tmp',
    description: 'Writes.',
    permission: 'write',
    sideEffect: 'filesystem',
    capabilities: { fs: { write: ['tmp'] } },
    scopes: [{ resource: 'file', action: 'write' }],
    run: () => 'written',
  })
  await expect(openRuntime({ tools: [tool] })).rejects.toThrow('/capabilities/tmp')
})

declare module 'handrail' {
  interface Services {
    browser: { visit(): string }
  }
}

test.each([
  [true, undefined],
  [false, 'undeclared_capability'],
])('a browser of the host is there for a tool that declares it: %s (DEF-4)', async (browser, reason) => {
  const tool = defineTool({
    name: 'demo.browse',
    description: 'Visits.',
    permission: 'readonly',
    sideEffect: 'browser',
    capabilities: { browser, net: { hosts: ['*'] } },
    needs: ['browser'],
    run: (context) => context.browser.visit(),
  })
  const runtime = await openRuntime({
    tools: [tool],
    services: { browser: { visit: () => 'visited' } },
    policy: { rules: [{ effect: 'allow', tools: ['demo.*'] }] },
  })
  expect((await runtime.session().call('demo.browse')).error?.reason).toBe(reason)
})
