import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  artifactTools,
  defineTool,
  resultText,
  SetupError,
  toolOutput,
  toWireResult,
  ToolFailure,
  type JsonSchema,
  type Policy,
  type Runtime,
  type RuntimeOptions,
  type Tool,
} from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

type Obligation = NonNullable<Policy['obligations']>[number]

const number = '123-45-6789'
const patterns = ['\\d{3}-\\d{2}-\\d{4}']

/** A tool that gives what it is told to. */
function giving(value: () => unknown, more: { output?: JsonSchema } = {}): Tool {
  return defineTool({
    name: 'people.find',
    description: 'Finds people.',
    permission: 'readonly',
    tags: ['hr'],
    ...more,
    run: () => value() as never,
  })
}

function open(tool: Tool, obligations: Obligation[], more: RuntimeOptions = {}) {
  return openRuntime({ tools: [tool], policy: { obligations }, ...more })
}

/** Everything a store and an archive in this folder hold. */
function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

test('what a pattern names never reaches result, evidence, archive, artifacts, events or errors (OUT-3)', async () => {
  const home = makeFolder()
  const events: string[] = []
  const tool = defineTool({
    name: 'people.find',
    description: 'Finds people.',
    permission: 'readonly',
    input: {
      type: 'object',
      properties: { text: { type: 'string' }, fails: { type: 'boolean' }, unplanned: { type: 'boolean' } },
    },
    plan({ text = '', unplanned = false }) {
      if (unplanned) throw new Error(`no plan for ${text}`)
      return { operations: [{ kind: 'other', resource: `urn:person:${text}` }] }
    },
    async run({ text = '', fails = false }, context) {
      context.progress({ message: `at ${text}` })
      const artifact = await context.artifact(`kept ${text}`, { mimeType: 'text/plain' })
      const writer = context.artifactSink.open({ mimeType: 'text/plain' })
      for (const piece of [`ünï line\nhalf of ${text.slice(0, 5)}`, `${text.slice(5)}\n`])
        writer.write(Buffer.from(piece))
      const streamed = await writer.finish()
      if (fails) throw new ToolFailure({ reason: 'odd', message: `no ${text}`, data: { text } })
      return toolOutput({
        content: `found ${text}`,
        data: { text, list: [`x ${text} y`] },
        summary: `one: ${text}`,
        artifacts: [artifact, streamed],
        metadata: { text },
      })
    },
  })
  const runtime = await open(tool, [{ id: 'numbers', action: 'redact', patterns }], {
    store: { path: join(home, 's.db') },
    archive: { dir: home },
    onEvent: (event) => events.push(JSON.stringify(event)),
  })
  const session = runtime.session()
  const found = await session.call('people.find', { text: number })
  expect(found).toMatchObject({
    ok: true,
    data: { text: '[redacted]', list: ['x [redacted] y'] },
    summary: 'one: [redacted]',
    metadata: { obligations: ['numbers'], tool: { text: '[redacted]' } },
  })
  expect(resultText(found)).toBe('found [redacted]')
  const failed = await session.call('people.find', { text: number, fails: true })
  expect(failed.error).toMatchObject({ message: 'no [redacted]', data: { text: '[redacted]' } })
  const unplanned = await session.call('people.find', { text: number, unplanned: true })
  expect(unplanned.error?.message).toContain('no plan for [redacted]')
  const unfit = await session.call('people.find', { text: number, fails: number })
  expect(unfit.error).toMatchObject({ reason: 'invalid_input' })
  const streamed = await runtime.artifacts.get(found.artifacts[1]?.digest ?? '')
  expect(Buffer.from(streamed ?? []).toString()).toBe('ünï line\nhalf of [redacted]\n')
  await runtime.close()
  const everything = [JSON.stringify([found, failed, unplanned, unfit]), ...events, readAll(home)].join('\n')
  expect(everything).toContain('[redacted]')
  expect(everything).not.toContain(number)
})

const output: JsonSchema = {
  type: 'object',
  properties: {
    people: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', 'x-classification': 'pii' },
          iban: { type: 'string', 'x-classification': ['pii', 'bank'] },
          salary: { type: 'integer', 'x-classification': 'hr' },
        },
      },
    },
  },
  required: ['people'],
}
const people = [{ name: 'Ada Lovelace', iban: 'DE02120300000000202051', salary: 71234 }]

test('classified fields are hidden in data and in texts that show them, for the tags and tenants named (OUT-3)', async () => {
  const tool = giving(
    () =>
      toolOutput({ content: `Ada Lovelace earns 71234 (${JSON.stringify({ people })})`, data: { people } }),
    { output },
  )
  const runtime = await open(tool, [
    { id: 'names', action: 'redact', classifications: ['pii'], tags: ['hr'] },
    { id: 'pay', action: 'redact', classifications: ['hr'], tenants: ['local'] },
    { id: 'elsewhere', action: 'redact', pointers: ['/people'], tenants: ['acme'] },
    { id: 'others', action: 'redact', pointers: ['/people'], tags: ['code'] },
  ])
  const result = await runtime.session().call('people.find')
  expect(result.data).toEqual({ people: [{ name: '[redacted]', iban: '[redacted]' }] })
  expect(resultText(result)).not.toMatch(/Ada|71234|DE02/)
  expect(result.metadata.obligations).toEqual(['names', 'pay'])
  const acme = await runtime.session({ tenant: 'acme' }).call('people.find')
  expect(acme.error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'obligation_failed' })
})

test('a mask leaves the last four characters (OUT-3)', async () => {
  const tool = giving(() => ({ people }), { output })
  const runtime = await open(tool, [{ id: 'bank', action: 'mask', classifications: ['bank'] }])
  const result = await runtime.session().call('people.find')
  expect(result.data).toEqual({ people: [{ ...people[0], iban: '****2051' }] })
  expect(resultText(result)).toContain('****2051')
  expect(resultText(result)).not.toContain('DE02')
})

test('a watermark says for whom a result is, in content and metadata (OUT-3)', async () => {
  const runtime = await open(
    giving(() => 'x'),
    [{ id: 'mark', action: 'watermark', text: 'for {actor} of {tenant}: {call}, {at}' }],
    { now: () => Date.UTC(2026, 4, 5) },
  )
  const result = await runtime.session({ tenant: 'acme', actor: 'ada' }).call('people.find')
  const text = `for ada of acme: ${result.callId}, 2026-05-05T00:00:00.000Z`
  expect(resultText(result)).toBe(`x\n${text}`)
  expect(result.metadata.watermark).toBe(text)
  expect(toWireResult(result)).toMatchObject({ metadata: { watermark: text, obligations: ['mark'] } })
})

const strict: JsonSchema = {
  type: 'object',
  properties: { salary: { type: 'integer' } },
  required: ['salary'],
}

test('an obligation that cannot be carried out withholds the result of a tool that ran (OUT-3)', async () => {
  let ran = 0
  const find = () => {
    ran++
    return { salary: 71234 }
  }
  const tool = giving(find, { output: strict })
  const runtime = await open(tool, [{ id: 'pay', action: 'redact', pointers: ['/salary'] }])
  const result = await runtime.session().call('people.find')
  expect(ran).toBe(1)
  expect(result).toMatchObject({
    outcome: 'denied',
    error: { code: 'POLICY.DENY_TOOL', reason: 'obligation_failed', data: { obligations: ['pay'] } },
  })
  expect(result.error?.message).toMatch(/"people.find" ran, and its result is withheld.*"pay"/)
  expect(JSON.stringify(result)).not.toContain('71234')
})

test('with degrade the data is withheld, and the content says so (OUT-3)', async () => {
  const tool = giving(() => toolOutput({ content: 'earns 71234', data: { salary: 71234 } }), {
    output: strict,
  })
  const runtime = await open(tool, [
    { id: 'pay', action: 'redact', pointers: ['/salary'], onFailure: 'degrade' },
  ])
  const result = await runtime.session().call('people.find')
  expect(result.ok).toBe(true)
  expect(result.data).toBeUndefined()
  expect(resultText(result)).toBe(
    '[withheld: the policy\'s obligation "pay" could not be carried out]\nearns [redacted]',
  )
  expect(result.metadata.withheld).toContain('"pay"')
})

test('issues of unfit inputs and outputs do not quote classified values (OUT-3, SCHEMA-3)', async () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { name: { type: 'string', maxLength: 3, 'x-classification': 'pii' } },
  }
  const tool = defineTool({
    name: 'people.find',
    description: 'Finds people.',
    permission: 'readonly',
    rawInput: { ...schema, properties: { ...schema.properties, n: { type: 'integer' } } },
    output: { ...schema, properties: { name: { type: 'integer', 'x-classification': 'pii' } } },
    run: () => ({ name: 'Lovelace' }),
  })
  const runtime = await open(tool, [{ id: 'pii', action: 'redact', classifications: ['pii'] }])
  const session = runtime.session()
  const unfit = await session.call('people.find', { name: 'Lovelace', n: 'five' })
  expect(unfit.error?.issues).toHaveLength(2)
  expect(unfit.error?.message).toContain('"five"')
  const given = await session.call('people.find', { name: 'Ada' })
  expect(given.error).toMatchObject({ reason: 'invalid_output', issues: [{ pointer: '/name' }] })
  expect(JSON.stringify([unfit, given])).not.toContain('Lovelace')
})

test('issues of a union do not quote the classified values of its forms (OUT-3, SCHEMA-3)', async () => {
  const secret = { type: 'integer', 'x-classification': 'pii' } as const
  const form = (fields: object): JsonSchema => ({ type: 'object', properties: fields as never })
  const pattern = { type: 'string', pattern: '^a$', 'x-classification': 'pii' }
  const tool = defineTool({
    name: 'people.find',
    description: 'Finds people.',
    permission: 'readonly',
    input: {
      type: 'object',
      properties: {
        loose: { anyOf: [form({ a: secret }), form({ a: { ...secret, minimum: 1 }, b: pattern })] },
        strict: {
          oneOf: [form({ kind: { const: 'x' }, a: secret }), form({ kind: { const: 'y' }, a: pattern })].map(
            (each) => ({ ...each, required: ['kind'] }),
          ),
        },
      },
    },
    run: () => 'found',
  })
  const runtime = await open(tool, [{ id: 'pii', action: 'redact', classifications: ['pii'] }])
  const session = runtime.session()
  const given = [
    { loose: { a: 'Lovelace; give', b: 'Lovelace' } },
    { strict: { kind: 'x', a: 'Lovelace' } },
    { strict: { kind: 'y', a: 'Lovelace' } },
    { strict: { kind: 'z', a: 'Lovelace' } },
  ]
  for (const input of given) {
    const unfit = await session.call('people.find', input)
    expect(unfit.error?.reason).toBe('invalid_input')
    expect(JSON.stringify(unfit)).not.toContain('Lovelace')
  }
  expect((await session.call('people.find', { strict: { kind: 'z' } })).error?.message).toContain('give "x"')
  const records = [...runtime.store.records({})].map((record) => JSON.stringify(record))
  expect(records.length).toBeGreaterThan(0)
  expect(records.join('')).not.toContain('Lovelace')
})

test('the evidence keeps the treated input, the tool gets the real one, and both verify (OUT-3, EVID-7)', async () => {
  const home = makeFolder()
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'bank.pay',
    description: 'Pays.',
    permission: 'write',
    input: {
      type: 'object',
      properties: { to: { type: 'string', 'x-classification': 'bank' }, note: { type: 'string' } },
    },
    run: (input) => {
      seen.push(input)
      return 'paid'
    },
  })
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({
    tools: [tool],
    policy: {
      obligations: [
        { id: 'bank', action: 'mask', classifications: ['bank'] },
        { id: 'numbers', action: 'redact', patterns },
      ],
    },
    approve: person.approve,
    store: { path: join(home, 's.db') },
  })
  const session = runtime.session()
  const first = { to: 'DE02120300000000202051', note: `for ${number}` }
  await session.call('bank.pay', first)
  expect(seen).toEqual([first])
  const [begin] = runtime.store.records({ kind: 'begin' })
  expect(begin?.body).toContain('{"note":"for [redacted]","to":"****2051"}')

  // Looks the same in the evidence, and is another input: the yes of the person does not cover it.
  await session.call('bank.pay', { ...first, to: 'XX99999999999999992051' })
  expect(person.asked).toHaveLength(2)
  await session.call('bank.pay', first)
  expect(person.asked).toHaveLength(2)
  expect(verifyEvidence(runtime.store).ok).toBe(true)
  await runtime.close()
  expect(readAll(home)).not.toContain('DE02120300000000202051')
})

test('a kept result is treated by the policy of the day on which it goes back (OUT-3, CALL-4, AUTH-5)', async () => {
  const tool = defineTool({
    name: 'people.add',
    description: 'Adds somebody.',
    permission: 'readonly',
    idempotency: 'keyed',
    keyFrom: 'call',
    run: () => ({ number }),
  })
  const runtime: Runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  const call = () => session.call('people.add', {}, { idempotencyKey: 'k' })
  expect((await call()).data).toEqual({ number })
  await runtime.reload({ policy: { obligations: [{ id: 'numbers', action: 'redact', patterns }] } })
  const again = await call()
  expect(again).toMatchObject({
    data: { number: '[redacted]' },
    metadata: { replayed: true, obligations: ['numbers'] },
  })
  expect(resultText(again)).toBe('{"number":"[redacted]"}')
})

test('preflight says which obligations would hold (OUT-3, CALL-1)', async () => {
  const runtime = await open(
    giving(() => 'x'),
    [
      { id: 'numbers', action: 'redact', patterns },
      { id: 'code', action: 'redact', patterns, tools: ['code.*'] },
    ],
  )
  const { obligations } = await runtime.session().preflight('people.find')
  expect(obligations).toContain('numbers')
  expect(obligations).not.toContain('code')
})

test('an obligation that could never do anything stops the start (OUT-3)', async () => {
  const started = open(
    giving(() => 'x'),
    [{ id: 'broken', action: 'redact', patterns: ['(?<=a)b'] }],
  )
  await expect(started).rejects.toThrow(SetupError)
  await expect(started).rejects.toMatchObject({ issues: [{ pointer: '/policy/obligations/0/patterns/0' }] })
})

test('what the policy obliges to hide by now is read of no artifact that was kept before (OUT-3)', async () => {
  const text = `${'a'.repeat(59_995)}${number}${'b'.repeat(100_000)}`
  const tool = giving(() => text)
  const runtime = await openRuntime({ tools: [tool, artifactTools()] })
  const session = runtime.session()
  const { artifacts, callId } = await session.call('people.find')
  const uri = `handrail://artifact/${callId}/${artifacts[0]?.digest}`
  const readAt = (offset: number) => session.call('artifact.read', { uri, offset, length: 20_000 })
  expect(resultText(await readAt(50_000))).toContain(number)
  await runtime.reload({
    policy: { obligations: [{ id: 'ssn', action: 'redact', tools: ['people.*'], patterns }] },
  })
  // The number stands on both sides of 60,000.
  for (const offset of [50_000, 40_000, 60_000]) {
    const { error, content } = await readAt(offset)
    expect(error).toMatchObject({ code: 'POLICY.DENY_TOOL', reason: 'obligation_failed' })
    expect(JSON.stringify(content)).not.toMatch(/a{10}|b{10}/)
  }
  for (const offset of [0, 70_000]) expect((await readAt(offset)).ok).toBe(true)
  const anew = await session.call('people.find')
  const given = `handrail://artifact/${anew.callId}/${anew.artifacts[0]?.digest}`
  const read = await session.call('artifact.read', { uri: given, offset: 59_990, length: 30 })
  expect(resultText(read)).toContain('aaaaa[redacted]bbb')
})
