import { defineTool, type JsonSchema, type SetupError, type Runtime, type Tool } from 'handrail'
import type { NoteRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const fields = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text: JsonSchema = { type: 'string' }

interface Version {
  version: string
  input?: JsonSchema
  output?: JsonSchema
  description?: string
  answer?: string
}

/** One version of a tool that answers with its version. */
function order({ version, input = fields({ item: text }, ['item']), output, description }: Version): Tool {
  return defineTool({
    name: 'shop.order',
    description: description ?? 'Orders an item.',
    permission: 'readonly',
    version,
    rawInput: input,
    ...(output !== undefined && { output }),
    run: () => (output === undefined ? version : { version }),
  })
}

async function openWith(first: Version): Promise<Runtime> {
  return openRuntime({ tools: [order(first)] })
}

/** `pointer code` of each issue, or none if the update is taken. */
async function issuesOf(first: Version, next: Version, options = {}): Promise<string[]> {
  const runtime = await openWith(first)
  const thrown: unknown = await runtime
    .register([order(next)], { update: true, ...options })
    .catch((e: unknown) => e)
  const version = runtime.registry.find('shop.order')?.definition.version
  if (thrown === undefined) {
    expect(version).toBe(next.version)
    return []
  }
  expect(thrown).toMatchObject({ code: 'breaking_change' })
  expect(version).toBe(first.version)
  const { issues } = thrown as { issues: { pointer: string; code: string }[] }
  return issues.map(({ pointer, code }) => `${pointer} ${code}`)
}

const v1: Version = { version: '1.0.0' }
const withColour = fields({ item: text, colour: text }, ['item'])

test.each<{ what: string; first?: Version; next: Version; issues?: string[] }>([
  { what: 'a PATCH without a change of schemas', next: { version: '1.0.1', description: 'One item.' } },
  { what: 'a MINOR with a new optional field', next: { version: '1.1.0', input: withColour } },
  {
    what: 'a MINOR with a new required field',
    next: { version: '1.1.0', input: fields({ item: text, colour: text }, ['item', 'colour']) },
    issues: ['/shop.order/inputSchema/properties/colour breaking_change'],
  },
  {
    what: 'a MINOR that is compatible in another way than a new optional field',
    next: { version: '1.1.0', input: fields({ item: { type: ['string', 'integer'] } }, ['item']) },
    issues: ['/shop.order/inputSchema/properties/item/type breaking_change'],
  },
  {
    what: 'a PATCH with a new optional field',
    next: { version: '1.0.1', input: withColour },
    issues: ['/shop.order/inputSchema/properties/colour breaking_change'],
  },
  {
    what: 'a MINOR that breaks input and output in several places',
    first: { version: '1.0.0', input: withColour, output: fields({ version: text }, ['version']) },
    next: {
      version: '1.1.0',
      input: fields({ item: { type: 'integer' } }, ['item']),
      output: fields({ version: text }),
    },
    issues: [
      '/shop.order/inputSchema/properties/colour breaking_change',
      '/shop.order/inputSchema/properties/item/type breaking_change',
      '/shop.order/outputSchema/properties/version breaking_change',
    ],
  },
  {
    what: 'a MAJOR that breaks everything',
    next: { version: '2.0.0', input: fields({ other: text }, ['other']) },
  },
  {
    what: 'another definition under the same version',
    next: { version: '1.0.0', description: 'Something else.' },
    issues: ['/shop.order/version same_version'],
  },
  {
    what: 'another definition under the same version with other build metadata',
    next: { version: '1.0.0+build.2', description: 'Something else.' },
    issues: ['/shop.order/version same_version'],
  },
  { what: 'the same definition again', next: v1 },
  {
    what: 'an earlier version',
    first: { version: '1.2.0' },
    next: { version: '1.1.9' },
    issues: ['/shop.order/version lower_version'],
  },
])('an update: $what (DEF-9)', async ({ first = v1, next, issues = [] }) => {
  expect(await issuesOf(first, next)).toEqual(issues)
})

test('an earlier version is taken where it is asked for (DEF-9)', async () => {
  expect(await issuesOf({ version: '2.0.0' }, { version: '1.0.0' }, { downgrade: true })).toEqual([])
})

test('an update is asked for, and comes from the source of the tool (NAME-3, DEF-9)', async () => {
  const runtime = await openWith(v1)
  const next = order({ version: '2.0.0' })
  const duplicate = { code: 'duplicate_tool' }
  await expect(runtime.register([next])).rejects.toMatchObject(duplicate)
  await expect(
    runtime.register([makeSource('code', 'another', [next])], { update: true }),
  ).rejects.toMatchObject(duplicate)
  expect(runtime.registry.find('shop.order')?.definition.version).toBe('1.0.0')
})

test('with one tool at fault nothing of a registration holds (DEF-9)', async () => {
  const runtime = await openWith(v1)
  const broken = order({ version: '1.0.1', input: fields({}) })
  const update = runtime.register([makeTool('shop.new'), broken], { update: true })
  await expect(update).rejects.toMatchObject({ code: 'breaking_change' })
  expect(runtime.registry.list().map(({ definition }) => definition.name)).toEqual(['shop.order'])
})

test('unknown options of a registration are refused (REG-7)', async () => {
  const runtime = await openWith(v1)
  const options = { upgrade: true, state: 'off', duplicates: 'any' } as object
  await expect(runtime.register([makeTool('shop.new')], options)).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [{ pointer: '/upgrade' }, { pointer: '/duplicates' }, { pointer: '/state' }],
  })
})

test('a session keeps definition and implementation of its start; a later one has the new ones (REG-7)', async () => {
  const runtime = await openWith(v1)
  const early = runtime.session()
  const [before] = early.tools()
  await runtime.register([order({ version: '2.0.0', input: fields({ other: text }) })], { update: true })
  const late = runtime.session()
  expect((await early.call('shop.order', { item: 'a' })).data).toBe('1.0.0')
  expect(early.tools()).toEqual([before])
  expect((await late.call('shop.order', { other: 'a' })).data).toBe('2.0.0')
  expect((await late.call('shop.order', { item: 'a' })).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test('a session that is told to takes the tools of now (REG-7)', async () => {
  const runtime = await openWith(v1)
  const session = runtime.session()
  await runtime.register([order({ version: '2.0.0' }), makeTool('shop.new')], { update: true })
  await runtime.register([makeTool('shop.gone')])
  await runtime.remove(['shop.gone'])
  session.refresh()
  expect((await session.call('shop.order', { item: 'a' })).data).toBe('2.0.0')
  expect(session.tools().map(({ tool }) => tool)).toEqual(['shop.new', 'shop.order'])
})

test('a removed tool is gone for later sessions and stays for those that have it (REG-7)', async () => {
  const runtime = await openWith(v1)
  const early = runtime.session()
  await runtime.remove(['shop.order'])
  expect((await early.call('shop.order', { item: 'a' })).data).toBe('1.0.0')
  expect(runtime.registry.size).toBe(0)
  const late = await runtime.session().call('shop.order', { item: 'a' })
  expect(late.error?.data).toMatchObject({ because: 'unknown' })
  await expect(runtime.remove(['shop.order'])).rejects.toMatchObject({ code: 'unknown_tool' })
})

test('a call that runs while its tool is updated and removed ends as it began (REG-7)', async () => {
  const gate = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const slow = {
    ...makeTool('shop.slow'),
    run() {
      begun.resolve()
      return gate.promise
    },
  }
  const runtime = await openRuntime({ tools: [slow] })
  const session = runtime.session()
  const call = session.call('shop.slow')
  await begun.promise
  await runtime.register([makeTool('shop.slow', { version: '2.0.0' })], { update: true })
  session.refresh()
  await runtime.remove(['shop.slow'])
  gate.resolve('as it began')
  expect(await call).toMatchObject({ ok: true, data: 'as it began' })
})

test('a person who is asked says yes to the definition that runs, or to nothing (REG-7, PERM-6)', async () => {
  const write = (version: string) => ({
    ...makeTool('shop.pay', { permission: 'write', version }),
    run: () => version,
  })
  const runtime: Runtime = await openRuntime({ tools: [write('1.0.0')] })
  const answered = (refresh: boolean) => {
    const session = runtime.session({
      async approve() {
        await runtime.register([write(refresh ? '3.0.0' : '2.0.0')], { update: true })
        if (refresh) session.refresh()
        return { decision: 'allow_once' }
      },
    })
    return session.call('shop.pay')
  }
  expect((await answered(false)).data).toBe('1.0.0')
  expect((await answered(true)).error?.reason).toBe('approval_stale')
})

test('updates are noted with both versions, and told to those who watch (REG-7, EVID-8)', async () => {
  const seen: (string | undefined)[] = []
  const runtime = await openWith(v1)
  runtime.on(({ type, tool }) => seen.push(`${type} ${tool}`))
  await runtime.register([order({ version: '1.1.0', input: withColour })], { update: true, by: 'deploy' })
  await runtime.remove(['shop.order'])
  const notes = [...runtime.store.records({ kind: 'note' })].map(
    ({ text: each }) => JSON.parse(each) as NoteRecord,
  )
  expect(notes).toMatchObject([
    { event: 'tool_registered', actor: 'host', tool: 'shop.order', data: { version: '1.0.0' } },
    { event: 'tool_updated', actor: 'deploy', tool: 'shop.order', data: { from: '1.0.0', version: '1.1.0' } },
    { event: 'tool_removed', tool: 'shop.order' },
  ])
  expect(seen).toEqual(['tool_updated shop.order', 'tool_removed shop.order'])
})

/** `code message` of what keeps a program from starting on the store again with this version of its tool. */
async function restart(store: { path: string }, version: Version): Promise<readonly string[]> {
  const opened = openRuntime({ tools: [order(version)], store, onError: () => {} })
  const runtime = await opened.catch((error: unknown) => error as SetupError)
  if (runtime instanceof Error) return runtime.issues.map(({ code, message }) => `${code} ${message}`)
  expect(runtime.registry.find('shop.order')?.definition.version).toBe(version.version)
  await runtime.close()
  return []
}

test('SemVer holds over restarts on a store that stays, and a refusal says which version to give (DEF-9)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  expect(await restart(store, v1)).toEqual([])
  const sku = { ...v1, input: fields({ item: text, sku: text }, ['sku']) }
  expect(await restart(store, { ...sku, version: '1.0.1' })).toEqual([
    expect.stringContaining('breaking_change') as string,
    expect.stringContaining('1.0.1 must be a new MAJOR version') as string,
  ])
  expect(await restart(store, { ...v1, input: withColour, version: '1.0.1' })).toEqual([
    expect.stringContaining('A PATCH such as 1.0.1 changes no schema') as string,
  ])
  const sameOf = async (version: Version) => (await restart(store, version))[0]
  expect(await sameOf({ ...v1, description: 'Another word.' })).toContain('1.0.1 or a later one')
  expect(await sameOf({ ...v1, input: withColour })).toContain('1.1.0 or a later one')
  expect(await sameOf(sku)).toContain('2.0.0 or a later one')
  expect(await restart(store, v1)).toEqual([])
  expect(await restart(store, { ...v1, input: withColour, version: '1.1.0' })).toEqual([])
  expect(await restart(store, { ...sku, version: '2.0.0' })).toEqual([])
  expect(await restart(store, v1)).toEqual([])
})

test('a tool that is registered later on a store that stays keeps to SemVer too, and the store is free after a refusal (DEF-9)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  expect(await restart(store, v1)).toEqual([])
  const runtime = await openRuntime({ store })
  const other = order({ ...v1, description: 'Another word.' })
  await expect(runtime.register([other])).rejects.toMatchObject({ code: 'breaking_change' })
  await runtime.register([order(v1)])
  await runtime.close()
  const refused = openRuntime({ tools: [other], store })
  await expect(refused).rejects.toThrow('A tool cannot be registered after what is kept of it in the store')
  const memory = await openRuntime({ tools: [order(v1)] })
  await memory.remove(['shop.order'])
  await memory.register([other])
})
