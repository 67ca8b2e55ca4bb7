import { codeTools, type Policy, type ProjectConfiguration, type RuntimeLimits } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

interface Case {
  projectConfiguration: ProjectConfiguration
  policy?: Policy
  limits?: RuntimeLimits
  disallowedTools?: readonly string[]
}

async function open(given: Case) {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    project: makeFolder({ 'a.txt': 'a', 'customer-data/b.txt': 'b', 'docs/c.md': 'c' }),
    tools: [codeTools(), makeTool('demo.read'), makeTool('demo.write', { permission: 'write' })],
    approve: person.approve,
    ...given,
  })
  return { runtime, session: runtime.session(), asked: person.asked }
}

/** A rule as a repository could have it, which may say allow. */
const rules = (...given: readonly object[]) => ({ rules: given }) as ProjectConfiguration

test('the rules of a project may ask and deny (PL-13)', async () => {
  const { session } = await open({
    projectConfiguration: rules(
      {
        id: 'careful',
        effect: 'ask',
        tools: ['code.read_file'],
        resources: ['handrail:file:{project}/docs/**'],
      },
      { id: 'never', effect: 'deny', tools: ['demo.read'] },
    ),
    policy: { rules: [{ effect: 'allow', tools: ['*'] }] },
  })
  const asked = await session.preflight('code.read_file', { path: 'docs/c.md' })
  expect(asked).toMatchObject({ effect: 'ask', decision: { layer: 'project', rule: 'careful' } })
  expect((await session.preflight('code.read_file', { path: 'a.txt' })).effect).toBe('allow')
  expect((await session.call('demo.read')).error).toMatchObject({
    reason: 'rule_denied',
    data: { layer: 'project', rule: 'never' },
  })
})

test.each([
  { effect: 'allow' },
  { effect: 'allow', tools: ['*'] },
  { effect: 'allow', tools: ['demo.write'] },
  { effect: 'allow', resources: ['*'] },
])('a rule %j of a project allows nothing (PL-13)', async (rule) => {
  const { session, asked } = await open({ projectConfiguration: rules(rule) })
  expect((await session.call('demo.write')).ok).toBe(false)
  expect((await session.call('code.read_file', { path: 'a.txt' })).ok).toBe(true)
  expect(asked.map((request) => request.because.rule)).toEqual(['write'])
})

test('a rule of a project lifts no deny and no ask of the person (PL-13)', async () => {
  const { session, asked } = await open({
    projectConfiguration: rules({ effect: 'allow', tools: ['*'] }),
    policy: {
      rules: [
        { id: 'mine', effect: 'deny', tools: ['demo.read'] },
        { id: 'also-mine', effect: 'ask', tools: ['code.read_file'] },
      ],
    },
  })
  expect((await session.call('demo.read')).error?.data).toMatchObject({ layer: 'policy', rule: 'mine' })
  await session.call('code.read_file', { path: 'a.txt' })
  expect(asked.map((request) => request.because.rule)).toEqual(['also-mine'])
})

test.each<[string, RuntimeLimits | undefined, RuntimeLimits, number | null]>([
  ['higher than the default', undefined, { repeatsPerSession: 1_000 }, 50],
  ['lower than the default', undefined, { repeatsPerSession: 3 }, 3],
  ['higher than the person', { repeatsPerSession: 4 }, { repeatsPerSession: 5 }, 4],
  ['lower than the person', { repeatsPerSession: 4 }, { repeatsPerSession: 2 }, 2],
])('a limit of a project that is %s (PL-13)', async (...[, limits, own, expected]) => {
  const { session } = await open({
    projectConfiguration: { limits: own },
    ...(limits !== undefined && { limits }),
  })
  expect((await session.preflight('demo.read')).budget.repeats.limit).toBe(expected)
})

test('a project may set a limit where there was none (PL-13)', async () => {
  const { session } = await open({ projectConfiguration: { limits: { callsPerSession: 1 } } })
  expect((await session.call('demo.read')).ok).toBe(true)
  expect((await session.call('demo.read')).error).toMatchObject({
    code: 'QUOTA.BUDGET_EXCEEDED',
    reason: 'calls',
  })
})

test('a project adds sensitive paths and takes none away (PL-13)', async () => {
  const { session, asked } = await open({ projectConfiguration: { sensitivePaths: ['customer-data'] } })
  await session.call('code.read_file', { path: 'customer-data/b.txt' })
  await session.call('code.read_file', { path: '.env' })
  expect(asked.map((request) => request.because.rule)).toEqual(['sensitive-path', 'sensitive-path'])
})

test('a project takes tools away and gives none back (PL-13)', async () => {
  const { session } = await open({
    projectConfiguration: { disallowedTools: ['demo.*'] },
    disallowedTools: ['code.run_command', 'code.write_file'],
  })
  expect(session.tools().map((tool) => tool.tool)).toEqual([
    'code.copy_path',
    'code.delete_path',
    'code.edit_file',
    'code.edit_notebook',
    'code.enter_worktree',
    'code.exit_worktree',
    'code.glob',
    'code.list_dir',
    'code.lsp',
    'code.move_path',
    'code.read_file',
    'code.search',
    'code.undo',
  ])
  expect((await session.call('demo.read')).error?.reason).toBe('tool_not_available')
})

test.each([
  'readRoots',
  'writeRoots',
  'tmp',
  'env',
  'hooks',
  'allowedTools',
  'mode',
  'allowBypass',
  'network',
  'policy',
])('a project cannot speak of %s (PL-13)', async (field) => {
  const projectConfiguration = {
    [field]: field === 'tmp' || field === 'allowBypass' ? true : [],
  } as ProjectConfiguration
  await expect(open({ projectConfiguration })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer: `/projectConfiguration/${field}`, code: 'unknown_field' }],
  })
})
