import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type SessionOptions, type Tool } from 'handrail'
import { composeTools, valueFrom } from 'handrail/tools'
import { replayRun } from 'handrail/replay'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const text = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const

const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF'
const seen: string[] = []

const tell = defineTool({
  name: 'crm.tell',
  description: 'Tells of a customer.',
  permission: 'readonly',
  output: {
    type: 'object',
    properties: { name: { type: 'string' }, mail: { type: 'string' }, key: { type: 'string' } },
    required: ['name', 'mail', 'key'],
  },
  run: () => ({ name: 'Ann', mail: 'ann@shop.example', key: secret }),
})
const show = defineTool({
  name: 'crm.show',
  description: 'Shows texts.',
  permission: 'readonly',
  input: {
    type: 'object',
    properties: { mail: { type: 'string' }, key: { type: 'string' } },
    required: ['mail', 'key'],
  },
  output: text,
  run({ mail, key }) {
    seen.push(mail, key)
    return { text: `${mail} ${key}` }
  },
})
const relay = composeTools({
  name: 'crm.relay',
  description: 'Hands on what is masked.',
  parts: {
    one: { tool: tell },
    two: { tool: show, input: { mail: valueFrom('one', '/mail'), key: valueFrom('one', '/key') } },
  },
})

test('a mask of the policy and the redaction of secrets hold between parts (NEXT-1, OBL-1)', async () => {
  seen.length = 0
  const runtime = await openRuntime({
    tools: [tell, show, relay],
    policy: { obligations: [{ id: 'mails', tools: ['crm.tell'], action: 'mask', pointers: ['/mail'] }] },
  })
  const result = await runtime.session().call('crm.relay')
  expect(result.ok).toBe(true)
  expect(seen).toHaveLength(2)
  expect(seen.join(' ')).not.toContain('ann@shop.example')
  expect(seen.join(' ')).not.toContain(secret)
  const records = [...runtime.store.records({})]
    .map(({ text: record, body }) => `${record}${body}`)
    .join('\n')
  expect(records).not.toContain(secret)
})

test('a child session, and a tenant without the tools, do no more by a composition (NEXT-1, SESS-1)', async () => {
  const runtime = await openRuntime({ tools: [relay, show] })
  await runtime.register([tell], { tenants: ['acme'] })
  const main = runtime.session({ tenant: 'acme' })
  expect((await main.call('crm.relay')).ok).toBe(true)
  const child = runtime.session({ parent: main, disallowedTools: ['crm.tell'] })
  expect((await child.call('crm.relay')).error?.reason).toBe('tool_not_available')
  expect((await runtime.session({ tenant: 'other' }).call('crm.relay')).error?.reason).toBe(
    'tool_not_available',
  )
})

const [write, remove] = ['code.write_file', 'code.delete_path'].map((name) => builtin(name))

function builtin(name: string): Tool {
  const found = codeTools()
    .list()
    .find(({ definition }) => definition.name === name)
  if (found === undefined) throw new Error(`There is no "${name}".`)
  return found
}

test('what a composition wrote is taken back by its own id, and one yes let its diffs through (NEXT-1, EVID-1)', async () => {
  if (write === undefined || remove === undefined) throw new Error('The built-in tools are missing.')
  const project = makeFolder({ 'old.txt': 'old\n' })
  const person = personSaying('allow_once')
  const tidy = composeTools({
    name: 'notes.tidy',
    description: 'Writes a note and removes the old one.',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    parts: {
      note: { tool: write, input: { path: 'new.txt', content: valueFrom('input', '/line') } },
      old: { tool: remove, input: { path: 'old.txt' }, after: ['note'] },
    },
  })
  const runtime = await openRuntime({
    project,
    store: { path: join(makeFolder(), 'store.db') },
    tools: [codeTools(), tidy],
    approve: person.approve,
  })
  const session = runtime.session()
  const result = await session.call('notes.tidy', { line: 'hello\n' })
  expect(result.error).toBeUndefined()
  expect(person.asked.map(({ tool }) => tool)).toEqual(['notes.tidy'])
  expect(person.asked[0]?.preview.body).toContain('+hello')
  expect(existsSync(join(project, 'old.txt'))).toBe(false)
  expect((await session.call('code.undo', { call: result.callId })).error).toBeUndefined()
  expect(readFileSync(join(project, 'old.txt'), 'utf8')).toBe('old\n')
  expect(existsSync(join(project, 'new.txt'))).toBe(false)
})

test('a replay goes through a composition, and has its parts in its result (NEXT-1, EVID-4)', async () => {
  const options = { tools: [tell, show, relay], project: makeFolder(), home: makeFolder() }
  const runtime = await openRuntime(options)
  const session = runtime.session()
  await session.call('crm.relay')
  const replay = await replayRun({ store: runtime.store, session: session.id, runtime: options })
  expect(replay.divergence).toBeUndefined()
  expect(replay).toMatchObject({ calls: 3, replayed: 1 })
  expect(replay.skipped.map(({ tool }) => tool)).toEqual(['crm.tell', 'crm.show'])
})

test('a composition is a part of another one, and one yes covers what it showed of it (NEXT-1)', async () => {
  const ran: string[] = []
  const note = defineTool({
    name: 'demo.note',
    description: 'Notes.',
    input: text,
    output: text,
    plan: (input) => ({
      operations: [],
      preview: { kind: 'text', title: `Note ${input.text}`, body: input.text },
    }),
    run(input) {
      ran.push(input.text)
      return input
    },
  })
  const inner = composeTools({
    name: 'demo.inner',
    description: 'Notes once.',
    input: text,
    parts: { note: { tool: note, input: valueFrom('input') } },
  })
  const outer = composeTools({
    name: 'demo.outer',
    description: 'Notes twice.',
    parts: { a: { tool: inner, input: { text: 'a' } }, b: { tool: inner, input: { text: 'b' } } },
  })
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [note, inner, outer], approve: person.approve })
  const result = await runtime.session().call('demo.outer')
  expect(result.error).toBeUndefined()
  expect(ran).toEqual(['a', 'b'])
  expect(person.asked.map(({ tool }) => tool)).toEqual(['demo.outer'])
  expect(person.asked[0]?.preview.body).toContain('Note b')
})

test('a tool that changed since is held to the composition anew, and asks for itself (NEXT-1)', async () => {
  const version = (output: typeof text | undefined, more: object) =>
    defineTool({
      name: 'demo.source',
      description: 'A source.',
      permission: 'readonly',
      output,
      run: () => ({ text: 'x' }),
      ...more,
    })
  const take = defineTool({
    name: 'demo.take',
    description: 'Takes it.',
    permission: 'readonly',
    input: text,
    output: text,
    run: (input) => input,
  })
  const both = composeTools({
    name: 'demo.both',
    description: 'Both.',
    parts: {
      one: { tool: version(text, {}) },
      two: { tool: take, input: { text: valueFrom('one', '/text') } },
    },
  })
  const runtime = await openRuntime({ tools: [version(text, {}), take, both] })
  await runtime.register([version(text, { version: '1.1.0', title: 'Newer' })], { update: true })
  expect((await runtime.session().call('demo.both')).ok).toBe(true)
  await runtime.register([version(undefined, { version: '2.0.0' })], { update: true })
  const { error } = await runtime.session().call('demo.both')
  expect(error).toMatchObject({
    reason: 'parts_unfit',
    issues: [{ pointer: '/parts/two/input/text', code: 'no_output_schema' }],
  })
})

test('a kept result of a composition is withheld from who may not call a part of it, or not see what one returns (NEXT-1, IDEM-1)', async () => {
  const told: string[] = []
  const note = defineTool({
    name: 'crm.note',
    description: 'Notes a text.',
    permission: 'write',
    input: text,
    output: text,
    run(input) {
      told.push(input.text)
      return input
    },
  })
  const one = composeTools({
    name: 'crm.one',
    description: 'Notes it.',
    input: text,
    parts: { note: { tool: note, input: { text: valueFrom('input', '/text') } } },
  })
  const outer = composeTools({
    name: 'crm.outer',
    description: 'Notes it below.',
    input: text,
    parts: { one: { tool: one, input: { text: valueFrom('input', '/text') } } },
  })
  const rules = [{ effect: 'allow' as const, tools: ['crm.*'] }]
  const runtime = await openRuntime({ tools: [note, one, outer], policy: { rules } })
  const call = (tool: string, options: SessionOptions = {}) =>
    runtime.session(options).call(tool, { text: 'x' }, { idempotencyKey: 'note-of-monday' })
  for (const tool of ['crm.one', 'crm.outer']) {
    expect((await call(tool)).data).toEqual({ text: 'x' })
    expect((await call(tool)).metadata.replayed).toBe(true)
    const bound = await call(tool, { disallowedTools: ['crm.note'] })
    expect([bound.data, bound.error?.reason]).toEqual([undefined, 'tool_not_available'])
  }
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['crm.note'] }, ...rules] } })
  expect((await call('crm.outer')).error?.reason).toBe('tool_not_available')
  const obligations = [{ id: 'all', tools: ['crm.note'], action: 'mask' as const, pointers: ['/text'] }]
  await runtime.reload({ policy: { rules, obligations } })
  expect((await call('crm.outer')).error?.reason).toBe('kept_undecided')
  await runtime.reload({ policy: { rules: [...rules] } })
  expect((await call('crm.outer')).data).toEqual({ text: 'x' })
  expect(told).toEqual(['x', 'x'])
})
