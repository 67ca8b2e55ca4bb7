import { SetupError, createRuntime, type RuntimeEvent } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

async function refusal(names: readonly string[]): Promise<SetupError> {
  const tools = names.map((name) => makeTool(name))
  const error: unknown = await createRuntime({ project: makeFolder(), tools }).catch((thrown) => thrown)
  if (error instanceof SetupError) return error
  throw new Error(`Nothing was refused of ${names.map((name) => name.slice(0, 40)).join(', ')}`)
}

test.each([
  'demo.greet',
  'a.b',
  'mcp.git-hub.create_issue',
  'mcp.server.Tool_With-Everything.v2',
  'a.b.c.d.e.f.g.h',
  'demo._private',
  `demo.${'x'.repeat(195)}`,
  '0.1',
])('takes the dotted name %j (NAME-1)', async (name) => {
  const runtime = await openRuntime({ tools: [makeTool(name)] })
  expect(runtime.registry.find(name)?.definition.name).toBe(name)
  expect((await runtime.session().call(name)).data).toBe(name)
})

test.each([
  ['no dot', 'greet'],
  ['nothing at all', ''],
  ['two dots in a row', 'demo..greet'],
  ['a dot at the start', '.demo.greet'],
  ['a dot at the end', 'demo.greet.'],
  ['nine parts', 'a.b.c.d.e.f.g.h.i'],
  ['a space', 'demo.say hello'],
  ['a slash', 'demo/../greet.x'],
  ['a line break', 'demo.greet\n'],
  ['a NUL', 'demo.gre\0et'],
  ['a colon', 'mcp:server.tool'],
  ['a star', 'demo.*'],
  ['a Cyrillic letter that looks Latin', 'dеmo.greet'],
  ['a full-width dot', 'demo．greet'],
  ['a zero-width space', 'demo.gre\u200bet'],
  ['a Chinese name', '工具.问候'],
  ['an accent', 'démo.greet'],
  ['__proto__ as a part', 'demo.__proto__'],
  ['__proto__ as the first part', '__proto__.polluted'],
  ['constructor as a part', 'constructor.prototype'],
  ['201 characters', `demo.${'x'.repeat(196)}`],
  ['10,000 characters', `demo.${'x'.repeat(10_000)}`],
])('refuses a name with %s (NAME-1)', async (_, name) => {
  const error = await refusal([name])
  expect(error.code).toBe('invalid_name')
  expect(error.issues).toHaveLength(1)
  expect(error.issues[0]).toMatchObject({ code: 'invalid_name' })
  expect(error.issues[0]?.pointer).toMatch(/\/name$/)
  expect(error.message.length).toBeLessThan(600)
})

test.each([undefined, null, 7, {}, ['demo.greet']])('refuses %j as a name (NAME-1)', async (name) => {
  const tool = makeTool('demo.greet')
  const given = { ...tool, definition: { ...tool.definition, name: name as unknown as string } }
  await expect(createRuntime({ project: makeFolder(), tools: [given] })).rejects.toMatchObject({
    code: 'invalid_name',
  })
})

test('names every bad name of a registration at once (NAME-1)', async () => {
  const error = await refusal(['greet', 'demo.ok', 'demo..x', 'demo.__proto__'])
  expect(error.issues.map((issue) => issue.pointer)).toEqual([
    '/greet/name',
    '/demo..x/name',
    '/demo.__proto__/name',
  ])
})

test.each([
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'x'.repeat(10_000),
  'demo.gre\0et',
  '__proto__.x',
])('a call of the hostile name %j is an unknown tool and nothing worse (NAME-1, REG-8)', async (name) => {
  const runtime = await openRuntime({ tools: [makeTool('demo.greet')] })
  const result = await runtime.session().call(name)
  expect(result.ok).toBe(false)
  expect(result.error?.reason).toMatch(/^(tool_not_available|invalid_call)$/)
  expect(JSON.stringify(result).length).toBeLessThan(3_000)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test('names that differ in letter case or in "-" and "_" are different tools (NAME-1, NAME-5)', async () => {
  const names = ['My-Service.run', 'my-service.run', 'my_service.run', 'myservice.run']
  const runtime = await openRuntime({ tools: names.map((name) => makeTool(name)) })
  const session = runtime.session()
  for (const name of names) expect((await session.call(name)).data).toBe(name)
})

test('permission, hooks and evidence speak of the canonical name, and the raw name stays in the metadata (NAME-4)', async () => {
  const person = personSaying('allow_once')
  const hooked: string[] = []
  const events: RuntimeEvent[] = []
  const runtime = await openRuntime({
    tools: [makeTool('mail.send', { permission: 'write', compatible: compatibleMail })],
    approve: person.approve,
    hooks: [
      {
        name: 'watch',
        tools: ['mail.send'],
        before: (event) => {
          hooked.push(event.tool)
          return { decision: 'allow' }
        },
      },
      {
        name: 'see',
        tools: ['mail.send'],
        after: (event) => void hooked.push(`${event.tool} ${event.result.tool}`),
      },
    ],
    onEvent: (event) => events.push(event),
  })
  const rawName = 'functions.SendMail__v7'
  const result = await runtime
    .session()
    .call('SendMail', {}, { presentation: 'compatible', rawName, id: 'toolu_9' })
  expect(result).toMatchObject({ ok: true, tool: 'mail.send', metadata: { rawName, rawId: 'toolu_9' } })
  expect(person.asked.map((request) => request.tool)).toEqual(['mail.send'])
  expect(hooked).toEqual(['mail.send', 'mail.send mail.send'])
  expect(new Set(events.flatMap((event) => event.tool ?? []))).toEqual(new Set(['mail.send']))
  const records = [...runtime.store.records({ call: result.callId })]
  expect(records.map((record) => (JSON.parse(record.text) as { tool: string }).tool)).toEqual([
    'mail.send',
    'mail.send',
  ])
  expect(records.map((record) => record.text).join()).not.toContain('SendMail')
  expect(JSON.stringify(person.asked)).not.toContain('SendMail')
})

const compatibleMail = {
  name: 'SendMail',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  toCanonical: () => ({}),
} as const

test('a raw name decides nothing: a rule on it does not match (NAME-4)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.greet'), makeTool('demo.other')],
    policy: { rules: [{ effect: 'deny', tools: ['demo.other'] }] },
  })
  const session = runtime.session()
  expect(await session.call('demo.greet', {}, { rawName: 'demo.other' })).toMatchObject({ ok: true })
  expect(await session.call('demo.other', {}, { rawName: 'demo.greet' })).toMatchObject({ ok: false })
})

test('every tool is a policy resource under its URN (NAME-7)', async () => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.greet'), makeTool('demo.greeter'), makeTool('shop.pay', { permission: 'write' })],
    policy: {
      rules: [
        { id: 'no-greeting', effect: 'deny', resources: ['handrail:tool:demo.greet'] },
        { id: 'shop', effect: 'allow', resources: ['handrail:tool:shop.*'] },
      ],
    },
  })
  const session = runtime.session()
  expect((await session.call('demo.greet')).error).toMatchObject({
    reason: 'rule_denied',
    data: { rule: 'no-greeting' },
  })
  expect((await session.call('demo.greeter')).ok).toBe(true)
  expect((await session.call('shop.pay')).ok).toBe(true)
  expect((await session.preflight('shop.pay')).decision).toMatchObject({ effect: 'allow', rule: 'shop' })
})
