import { existsSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalRequest, Policy } from 'handrail'
import { expect, test } from 'vitest'
import { openDeclared, texts, toolFile } from '../support/declared-tools.ts'
import { makeFolder, personSaying } from '../support/project.ts'

/** What a person was asked about these tools, and what came of it. */
async function ask(
  fields: Record<string, unknown>,
  policy: Policy = {},
  input: Record<string, unknown> = {},
) {
  const person = personSaying('deny')
  const { runtime } = await openDeclared({ 'a.json': toolFile(fields) }, { approve: person.approve, policy })
  const result = await runtime.session().call('demo.tool', input)
  return { result, asked: person.asked, runtime }
}

test('a readonly tool runs unasked; a write, a dangerous and a network one ask (PERM-2, DECL-3)', async () => {
  const counts = await Promise.all(
    [
      { permission: 'readonly' },
      {},
      { permission: 'write' },
      { permission: 'readonly', tags: ['dangerous'] },
      { permission: 'readonly', tags: ['network'] },
      { permission: 'readonly', hosts: ['api.example.com'] },
    ].map(async (fields) => (await ask(fields)).asked.length),
  )
  expect(counts).toEqual([0, 1, 1, 1, 1, 1])
})

test('a person sees the very command: program, arguments, folder and variables (PERM-6, DECL-3)', async () => {
  const { asked, runtime } = await ask(
    {
      command: 'touch',
      args: ['--', '{{name}}'],
      input_schema: texts('name'),
      env_allowlist: ['LANG'],
      secrets: ['KEY'],
    },
    {},
    { name: 'a b\u202e' },
  )
  const [request] = asked as [ApprovalRequest]
  expect(request.preview?.kind).toBe('argv')
  expect(request.preview?.body.split('\n')).toEqual([
    String.raw`touch -- $'a b\U0000202e'`,
    `in ${realpathSync(runtime.project)}`,
    expect.stringMatching(/^program \/.*touch$|^program \/.*coreutils$/),
    'with LANG, KEY',
  ])
  expect(existsSync(join(runtime.project, 'a b\u202e'))).toBe(false)
})

test('the plan names the program and every host, so that rules see them (PERM-8)', async () => {
  const { runtime } = await ask({
    command: 'echo',
    args: ['hi'],
    hosts: ['api.example.com', 'b.example.com'],
  })
  const { plan, effect } = await runtime.session().preflight('demo.tool')
  expect(effect).toBe('ask')
  expect(plan?.operations).toMatchObject([
    { kind: 'process', argv: ['echo', 'hi'], cwd: realpathSync(runtime.project) },
    { kind: 'net', host: 'api.example.com' },
    { kind: 'net', host: 'b.example.com' },
  ])
})

test.each<[string, { fields?: Record<string, unknown>; policy: Policy }, boolean]>([
  ['the tool', { policy: { rules: [{ effect: 'deny', tools: ['demo.*'] }] } }, false],
  ['its tag', { fields: { tags: ['shop'] }, policy: { rules: [{ effect: 'deny', tags: ['shop'] }] } }, false],
  [
    'its command',
    { fields: { command: 'echo' }, policy: { rules: [{ effect: 'deny', commands: ['echo *'] }] } },
    false,
  ],
  [
    'a command of its script',
    {
      fields: { command_type: 'shell', command: 'true && curl --version' },
      policy: { rules: [{ effect: 'deny', commands: ['curl *'] }] },
    },
    false,
  ],
  [
    'its host',
    {
      fields: { hosts: ['api.example.com'] },
      policy: { rules: [{ effect: 'deny', resources: ['handrail:host:*.example.com'] }] },
    },
    false,
  ],
  ['the network', { fields: { tags: ['network'] }, policy: { network: { default: 'deny' } } }, false],
  [
    'its command, allowed',
    { fields: { command: 'echo' }, policy: { rules: [{ effect: 'allow', argv: ['echo', '**'] }] } },
    true,
  ],
  [
    'another command',
    { fields: { command: 'echo' }, policy: { rules: [{ effect: 'deny', commands: ['rm *'] }] } },
    true,
  ],
])('a rule on %s decides (PERM-8, DECL-3)', async (_what, { fields, policy }, runs) => {
  const { runtime } = await openDeclared({ 'a.json': toolFile(fields) }, { policy })
  const { ok, error } = await runtime.session().call('demo.tool')
  expect([ok, error?.code]).toEqual([runs, runs ? undefined : 'POLICY.DENY_TOOL'])
})

test('a yes for the session covers the same program in the same folder, and no other tool (PERM-4)', async () => {
  const person = personSaying('allow_for_session')
  const { runtime } = await openDeclared(
    {
      'a.json': toolFile({ command: 'echo', args: ['{{a}}'], input_schema: texts('a') }),
      'b.json': toolFile({ name: 'demo.other', command: 'echo' }),
    },
    { approve: person.approve },
  )
  const session = runtime.session()
  await session.call('demo.tool', { a: '1' })
  await session.call('demo.tool', { a: '2' })
  expect(person.asked).toHaveLength(1)
  await session.call('demo.other')
  expect(person.asked).toHaveLength(2)
})

test('a program or folder that changed after the yes does not run (DECL-4, FS-32)', async () => {
  const project = makeFolder({ 'one/x': '', 'two/x': '' })
  const outside = makeFolder()
  const { runtime } = await openDeclared(
    { 'a.json': toolFile({ command: 'touch', args: ['mark'], working_dir: 'one' }) },
    {
      project,
      async approve() {
        rmSync(join(project, 'one'), { recursive: true })
        symlinkSync(outside, join(project, 'one'))
        return { decision: 'allow_once' }
      },
    },
  )
  const { ok } = await runtime.session().call('demo.tool')
  expect([ok, existsSync(join(outside, 'mark')), existsSync(join(project, 'two', 'mark'))]).toEqual([
    false,
    false,
    false,
  ])
})

test('a folder or program that is another one since the plan is not used (DECL-4)', async () => {
  const project = makeFolder({ 'one/x': '', 'two/x': '' })
  const { runtime, folder } = await openDeclared(
    {
      'a.json': toolFile({ command: 'pwd', working_dir: 'one', permission: 'readonly' }),
      'b.json': toolFile({ name: 'demo.program', command: './run.sh', permission: 'readonly' }),
      'run.sh': '#!/bin/sh\necho first\n',
      'other.sh': '#!/bin/sh\necho second\n',
    },
    {
      project,
      hooks: [
        {
          name: 'swap',
          before({ tool }) {
            const path = tool === 'demo.tool' ? join(project, 'one') : join(folder, 'run.sh')
            rmSync(path, { recursive: true })
            symlinkSync(tool === 'demo.tool' ? join(project, 'two') : join(folder, 'other.sh'), path)
            return { decision: 'allow' }
          },
        },
      ],
    },
  )
  const session = runtime.session()
  for (const tool of ['demo.tool', 'demo.program'])
    expect((await session.call(tool)).error).toMatchObject({ code: 'TOOL.FAILED', reason: 'stale_preview' })
})

test('plan mode has the readonly ones only (PERM-9)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile(),
    'b.json': toolFile({ name: 'demo.look', permission: 'readonly' }),
  })
  const session = runtime.session({ mode: 'plan' })
  expect(session.tools().map(({ tool }) => tool)).toEqual(['demo.look'])
})

test('a readonly tool has no folder that it may write to (AUTH-2)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ permission: 'readonly' }),
    'b.json': toolFile({ name: 'demo.write' }),
  })
  const session = runtime.session()
  expect((await session.preflight('demo.tool')).profile?.writeRoots).toEqual([])
  expect((await session.preflight('demo.write')).profile?.writeRoots).toEqual([realpathSync(runtime.project)])
})
