import { codeTools, defineTool, type Effect, type Mode, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const get = defineTool({
  name: 'web.get',
  description: 'Gets a page.',
  permission: 'readonly',
  sideEffect: 'network',
  tags: ['network'],
  capabilities: { net: { hosts: ['*'] } },
  input: { type: 'object', properties: { host: { type: 'string' } }, required: ['host'] },
  plan: ({ host }) => ({ operations: [{ kind: 'net', host, url: `https://${host}/` }] }),
  run: ({ host }) => host,
})

/** One call of each kind. */
const calls = {
  read: ['code.read_file', { path: 'a.txt' }],
  write: ['code.write_file', { path: 'new.txt', content: 'x' }],
  edit: ['code.edit_file', { path: 'a.txt', edits: [{ old: 'one', new: 'two' }] }],
  otherWrite: ['mail.send', {}],
  dangerous: ['code.run_command', { argv: ['ls'] }],
  network: ['web.get', { host: 'example.com' }],
  sensitiveRead: ['code.read_file', { path: '.env' }],
  sensitiveWrite: ['code.write_file', { path: 'server.key', content: 'x' }],
} as const
type Kind = keyof typeof calls

const table: Record<Mode, Record<Kind, Effect>> = {
  default: {
    read: 'allow',
    write: 'ask',
    edit: 'ask',
    otherWrite: 'ask',
    dangerous: 'ask',
    network: 'ask',
    sensitiveRead: 'ask',
    sensitiveWrite: 'ask',
  },
  plan: {
    read: 'allow',
    write: 'deny',
    edit: 'deny',
    otherWrite: 'deny',
    dangerous: 'deny',
    network: 'ask',
    sensitiveRead: 'ask',
    sensitiveWrite: 'deny',
  },
  'accept-edits': {
    read: 'allow',
    write: 'allow',
    edit: 'allow',
    otherWrite: 'ask',
    dangerous: 'ask',
    network: 'ask',
    sensitiveRead: 'ask',
    sensitiveWrite: 'ask',
  },
  bypass: {
    read: 'allow',
    write: 'allow',
    edit: 'allow',
    otherWrite: 'allow',
    dangerous: 'allow',
    network: 'allow',
    sensitiveRead: 'ask',
    sensitiveWrite: 'ask',
  },
}

const rows = Object.entries(table).flatMap(([mode, row]) =>
  Object.entries(row).map(([kind, effect]) => ({ mode: mode as Mode, kind: kind as Kind, effect })),
)

function makeSandbox() {
  return {
    project: makeFolder({ 'a.txt': 'one\n', '.env': 'KEY=1\n' }),
    tools: [codeTools(), get, makeTool('mail.send', { permission: 'write' })],
  }
}

test.each(rows)('mode $mode, $kind: $effect (PERM-9, PERM-2)', async ({ mode, kind, effect }) => {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    ...makeSandbox(),
    policy: { allowBypass: true },
    approve: person.approve,
  })
  const session = runtime.session({ mode })
  const [tool, input] = calls[kind]
  expect((await session.preflight(tool, input)).effect).toBe(effect)
  const result = await session.call(tool, input)
  expect(person.asked).toHaveLength(effect === 'ask' ? 1 : 0)
  expect(result.ok).toBe(effect === 'allow')
  if (effect === 'deny')
    expect(result.error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'mode_denied' })
  if (effect === 'ask')
    expect(result.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'denied' })
})

test.each(rows.filter(({ effect }) => effect === 'ask'))(
  'mode $mode, $kind: without anybody to ask it is denied (PERM-9, PERM-5)',
  async ({ mode, kind }) => {
    const runtime = await openRuntime({ ...makeSandbox(), policy: { allowBypass: true } })
    const session = runtime.session({ mode })
    const [tool, input] = calls[kind]
    expect((await session.preflight(tool, input)).effect).toBe('deny')
    expect((await session.call(tool, input)).error).toMatchObject({ reason: 'no_callback' })
  },
)

test('bypass needs explicit configuration (PERM-9)', async () => {
  const runtime = await openRuntime(makeSandbox())
  expect(() => runtime.session({ mode: 'bypass' })).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      issues: [expect.objectContaining({ code: 'mode_denied' })],
    }),
  )
  await expect(openRuntime({ ...makeSandbox(), policy: { mode: 'bypass' } })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer: '/policy/mode', code: 'contradiction' }],
  })
})

test('accepting edits accepts none of a file that belongs to a project and that other programs obey (PERM-9, FS-49)', async () => {
  const person = personSaying('allow_for_session')
  const allowed: Rule = {
    effect: 'allow',
    tools: ['code.write_file'],
    resources: ['handrail:file:{project}/.husky/*'],
  }
  const runtime = await openRuntime({ ...makeSandbox(), approve: person.approve })
  const session = runtime.session({ mode: 'accept-edits' })
  const write = async (path: string) => (await session.call('code.write_file', { path, content: 'x' })).ok
  const obeyed = [
    '.husky/pre-commit',
    '.Husky/post-merge',
    '.devcontainer/devcontainer.json',
    '.pre-commit-config.yaml',
    'mise.toml',
    'sub/.cargo/config.toml',
    'lefthook.yml',
  ]
  for (const path of obeyed) expect({ path, ok: await write(path) }).toEqual({ path, ok: true })
  expect(person.asked.map(({ because }) => because.reason)).toEqual(
    obeyed.map((path) => expect.stringContaining(`${path}" is obeyed by other programs`)),
  )
  for (const path of ['src/husky.ts', '.cargo/notes.md', 'config.toml'])
    expect({ path, ok: await write(path) }).toEqual({ path, ok: true })
  // A yes for the session answers for the next edits of that kind as little as the mode does.
  await session.call('code.move_path', { from: 'src/husky.ts', to: '.husky/commit-msg' })
  expect(person.asked).toHaveLength(obeyed.length + 1)

  const ruled = await openRuntime({ ...makeSandbox(), policy: { rules: [allowed] } })
  const hook = { path: '.husky/pre-commit', content: 'x' }
  expect(await ruled.session({ mode: 'accept-edits' }).call('code.write_file', hook)).toMatchObject({
    ok: true,
  })
})

test('deny and ask rules hold in bypass mode and in accept-edits mode (PERM-9)', async () => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    ...makeSandbox(),
    approve: person.approve,
    policy: {
      allowBypass: true,
      rules: [
        { effect: 'deny', tools: ['code.run_command'] },
        { id: 'look', effect: 'ask', tools: ['code.write_file'] },
      ],
    },
  })
  for (const mode of ['bypass', 'accept-edits'] as const) {
    const session = runtime.session({ mode })
    expect((await session.call(...calls.dangerous)).error?.reason).toBe('rule_denied')
    expect((await session.preflight(...calls.write)).decision).toMatchObject({ effect: 'ask', rule: 'look' })
  }
})

test('the mode of a session that names none is the mode of the policy (PERM-9)', async () => {
  const runtime = await openRuntime({ ...makeSandbox(), policy: { mode: 'plan' } })
  expect(runtime.session().mode).toBe('plan')
  expect((await runtime.session().call(...calls.write)).error?.reason).toBe('mode_denied')
})

test('accept-edits ends at the project: a write into another root asks (PERM-9)', async () => {
  const elsewhere = makeFolder()
  const person = personSaying('deny')
  const runtime = await openRuntime({ ...makeSandbox(), writeRoots: [elsewhere], approve: person.approve })
  const session = runtime.session({ mode: 'accept-edits' })
  await session.call('code.write_file', { path: `${elsewhere}/a.txt`, content: 'x' })
  expect(person.asked).toHaveLength(1)
})

test('no input of a model changes the mode (PERM-9)', async () => {
  const runtime = await openRuntime(makeSandbox())
  const session = runtime.session({ mode: 'plan' })
  for (const extra of [{ mode: 'bypass' }, { approved: true }, { permission_mode: 'bypassPermissions' }]) {
    const result = await session.call('code.read_file', { path: 'a.txt', ...extra })
    expect(result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED' })
  }
  expect(session.mode).toBe('plan')
})
