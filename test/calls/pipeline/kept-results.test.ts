import { join } from 'node:path'
import {
  artifactTools,
  defineTool,
  type ApprovalAnswer,
  type Json,
  type JsonSchema,
  type ManifestSpec,
  type RuntimeOptions,
  type Session,
  type SessionOptions,
  type ToolResult,
} from 'handrail'
import type { BeginRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

interface VaultSpec extends Partial<ManifestSpec> {
  output?: JsonSchema
  run?: (path: string) => Json | Promise<Json>
}

/** A keyed tool that counts how often it ran, and says that it reaches the file of its input. */
function vault({ run = (path) => `content of ${path}`, ...manifest }: VaultSpec = {}) {
  const ran: string[] = []
  const tool = defineTool({
    name: 'vault.open',
    description: 'Opens a file once.',
    permission: 'readonly',
    sideEffect: 'read',
    idempotency: 'keyed',
    keyFrom: 'call',
    capabilities: { fs: { read: ['project'] } },
    ...manifest,
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    plan: ({ path }, { project }) => ({ operations: [{ kind: 'fs.read', path: join(project, path) }] }),
    run({ path }) {
      ran.push(path)
      return run(path)
    },
  })
  return { tool, ran }
}

const path = 'secret/a.txt'
const write = { permission: 'write' } as const
const open = (session: Session, input: unknown = { path }) =>
  session.call('vault.open', input, { idempotencyKey: 'first' })
const denySecret = { id: 'no', effect: 'deny' as const, resources: ['handrail:file:{project}/secret/**'] }
const asSub: SessionOptions = { role: 'sub', allowedTools: ['vault.*'] }

async function openVault(options: RuntimeOptions = {}, more: VaultSpec = {}) {
  const { tool, ran } = vault(more)
  return { runtime: await openRuntime({ tools: [tool], store: 'memory', ...options }), ran }
}

test('a key is of one actor: another one who gives it makes a call of their own (CALL-4)', async () => {
  const inbox = defineTool({
    name: 'mail.inbox',
    description: 'Reads mail.',
    permission: 'readonly',
    idempotency: 'optional',
    run: ({ principal }) => `mail of ${principal.actor}`,
  })
  const runtime = await openRuntime({ tools: [inbox], store: 'memory' })
  const read = (actor: string) =>
    runtime.session({ actor }).call('mail.inbox', {}, { idempotencyKey: 'the same' })
  expect([(await read('bob')).data, (await read('ann')).data]).toEqual(['mail of bob', 'mail of ann'])
  expect((await read('bob')).metadata.replayed).toBe(true)
})

test('a rule that denies the role denies the kept result too, and leaves it to others (CALL-4, AUTH-2)', async () => {
  const { runtime, ran } = await openVault({ policy: { rules: [{ ...denySecret, roles: ['sub'] }] } })
  expect((await open(runtime.session(asSub))).error?.reason).toBe('rule_denied')
  const first = await open(runtime.session())
  expect(first).toMatchObject({ ok: true, data: 'content of secret/a.txt' })
  const denied = await open(runtime.session(asSub))
  expect(denied).toMatchObject({
    outcome: 'denied',
    content: [{ type: 'text' }],
    error: { reason: 'rule_denied' },
  })
  expect(denied.data).toBeUndefined()
  expect(await open(runtime.session())).toMatchObject({ data: first.data, metadata: { replayed: true } })
  expect(ran).toHaveLength(1)
})

test('the policy of now decides about a kept result: rules, grants, sensitive paths, tool lists (AUTH-2, AUTH-5)', async () => {
  const { runtime, ran } = await openVault()
  const session = runtime.session()
  expect((await open(session)).ok).toBe(true)
  await runtime.reload({ policy: { rules: [denySecret] } })
  expect((await open(session)).error?.reason).toBe('rule_denied')
  const grants = [{ id: 'public', capabilities: { read: ['{project}/public'] } }]
  await runtime.reload({ policy: { grants } })
  expect((await open(session)).error?.reason).toBe('path_outside_roots')
  await runtime.reload({ policy: { grants: [] } })
  expect((await open(session)).error?.reason).toBe('no_grant')
  await runtime.reload({ policy: {}, sensitivePaths: ['**/secret/**'] })
  expect((await open(session)).error?.reason).toBe('no_callback')
  await runtime.reload({ sensitivePaths: [], disallowedTools: ['vault.*'] })
  expect((await open(session)).error?.reason).toBe('tool_not_available')
  await runtime.reload({ disallowedTools: [] })
  expect(await open(session)).toMatchObject({ ok: true, metadata: { replayed: true } })
  expect(ran).toHaveLength(1)
})

test('a kept result is given however often the session has called: nothing runs, so nothing is counted (CALL-4, CALL-5)', async () => {
  const { runtime, ran } = await openVault({ limits: { callsPerSession: 2, repeatsPerSession: 1 } })
  const session = runtime.session()
  const anew = () => session.call('vault.open', { path }, { idempotencyKey: 'another' })
  const told: (string | undefined)[] = []
  const say = ({ error, metadata }: ToolResult) => told.push(error?.reason ?? String(metadata.replayed))
  say(await open(session))
  say(await open(session))
  say(await anew())
  expect((await session.call('vault.open', { path: 'b.txt' }, { idempotencyKey: 'b' })).ok).toBe(true)
  say(await open(session))
  say(await anew())
  expect(told).toEqual(['undefined', 'true', 'repeats', 'true', 'calls'])
  const about = { idempotencyKey: 'first' }
  expect(await session.preflight('vault.open', { path }, about)).toMatchObject({
    effect: 'allow',
    budget: { calls: { used: 2, limit: 2 } },
  })
  await runtime.reload({ policy: { rules: [denySecret] } })
  expect((await open(session)).error?.reason).toBe('rule_denied')
  expect(ran).toEqual([path, 'b.txt'])
})

test('hooks, decision points, the state of the tool and the mode of the session decide about a kept result (HOOK-1, AUTH-1, REG-2, PERM-2)', async () => {
  let hook = true
  let point = true
  const { runtime, ran } = await openVault(
    {
      hooks: [{ name: 'h', before: () => ({ decision: hook ? 'allow' : 'deny' }) }],
      decisionPoints: [
        {
          id: 'host',
          digest: 'one',
          authorise: ({ operation }) => ({
            effect: operation === undefined || point ? 'permit' : 'forbid',
            decidedBy: 'host',
            reason: 'the host says so',
          }),
        },
      ],
      policy: { rules: [{ effect: 'allow', tools: ['vault.*'] }] },
    },
    { permission: 'write' },
  )
  const session = runtime.session()
  expect((await open(session)).ok).toBe(true)
  hook = false
  expect((await open(session)).error?.reason).toBe('hook_denied')
  hook = true
  point = false
  expect((await open(session)).error?.reason).toBe('decision_point_denied')
  point = true
  await runtime.setToolState('vault.open', 'paused', { by: 'ann' })
  expect((await open(session)).error?.reason).toBe('paused')
  await runtime.setToolState('vault.open', 'enabled', { by: 'ann' })
  expect((await open(runtime.session({ mode: 'plan' }))).error?.reason).toBe('mode_denied')
  const restricted = runtime.session()
  restricted.restrict({ disallowedTools: ['vault.*'] })
  expect((await open(restricted)).error?.reason).toBe('tool_not_available')
  expect((await open(session)).metadata.replayed).toBe(true)
  expect(ran).toHaveLength(1)
})

test('the yes of a person to the call holds for its kept result, for the same caller alone (CALL-4, PERM-4)', async () => {
  const person = personSaying('allow_once')
  const { runtime, ran } = await openVault({ approve: person.approve }, { permission: 'write' })
  expect((await open(runtime.session())).ok).toBe(true)
  expect((await open(runtime.session())).metadata.replayed).toBe(true)
  expect(person.asked).toHaveLength(1)
  const given = await open(runtime.session(asSub))
  expect(given).toMatchObject({ ok: true, metadata: { replayed: true } })
  expect(person.asked.at(-1)).toMatchObject({
    principal: { role: 'sub' },
    scope: 'this earlier result only',
    preview: { title: expect.stringContaining('is given again; nothing runs') as string },
  })
  const parent = runtime.session()
  await open(runtime.session({ parent, role: 'orchestrator' }))
  expect(person.asked).toHaveLength(3)
  expect(ran).toHaveLength(1)
  const [begin] = [...runtime.store.records({ call: given.callId })].map(
    ({ text }) => JSON.parse(text) as BeginRecord,
  )
  expect(begin).toMatchObject({
    decision: { effect: 'ask', rule: 'write' },
    approval: { decision: 'allow_once' },
  })
})

test('a yes for the session that was given to a kept result lets no call run (PERM-4)', async () => {
  const person = personSaying('allow_for_session')
  const { runtime } = await openVault({ approve: person.approve }, { permission: 'write' })
  await open(runtime.session())
  const session = runtime.session(asSub)
  expect((await open(session)).metadata.replayed).toBe(true)
  expect((await session.call('vault.open', { path }, { idempotencyKey: 'second' })).ok).toBe(true)
  expect(person.asked).toHaveLength(3)
})

test('a person who denies a kept result keeps it from nobody else (CALL-4)', async () => {
  let decision: ApprovalAnswer['decision'] = 'allow_once'
  const { runtime, ran } = await openVault({ approve: async () => ({ decision }) }, { permission: 'write' })
  await open(runtime.session())
  decision = 'deny'
  expect((await open(runtime.session(asSub))).error?.reason).toBe('denied')
  expect((await open(runtime.session())).metadata.replayed).toBe(true)
  expect(ran).toHaveLength(1)
})

test('a consent that was revoked answers for a kept result no more, one that stands does (AUTH-3)', async () => {
  const { runtime, ran } = await openVault({}, { permission: 'write' })
  const give = () => runtime.consents.give({ tool: 'vault.open', givenBy: 'ann' })
  const consent = await give()
  expect((await open(runtime.session())).ok).toBe(true)
  expect((await open(runtime.session())).metadata.replayed).toBe(true)
  await runtime.consents.revoke('local', consent.id, 'ann')
  expect((await open(runtime.session())).error?.reason).toBe('no_callback')
  const other = await give()
  const again = await open(runtime.session())
  expect(again.metadata.replayed).toBe(true)
  expect([...runtime.store.records({ call: again.callId, kind: 'begin' })][0]?.text).toContain(other.id)
  expect(ran).toHaveLength(1)
})

test('a yes for the session answers for kept results of the session (PERM-4)', async () => {
  const person = personSaying('allow_for_session')
  const { runtime } = await openVault({ approve: person.approve }, { permission: 'write' })
  const session = runtime.session()
  await open(session)
  await session.call('vault.open', { path }, { idempotencyKey: 'by the yes' })
  expect(person.asked).toHaveLength(1)
  const here = await session.call('vault.open', { path }, { idempotencyKey: 'by the yes' })
  expect(here.metadata.replayed).toBe(true)
  const elsewhere = runtime.session({ approve: personSaying('deny').approve })
  const there = await elsewhere.call('vault.open', { path }, { idempotencyKey: 'by the yes' })
  expect(there.error?.reason).toBe('denied')
})

test('a kept result fits the definition of now, or is withheld; the tool does not run again (SCHEMA-3, CALL-4)', async () => {
  const output = (type: 'string' | 'integer') => ({
    type: 'object' as const,
    properties: { a: { type } },
    required: ['a'],
  })
  const make = (version: string, type: 'string' | 'integer') =>
    vault({ version, run: () => ({ a: 'one' }), output: output(type) })
  const [old, same, other] = [make('1.0.0', 'string'), make('1.1.0', 'string'), make('2.0.0', 'integer')]
  const runtime = await openRuntime({ tools: [old.tool], store: 'memory' })
  expect((await open(runtime.session())).data).toEqual({ a: 'one' })
  await runtime.register([same.tool], { update: true })
  expect(await open(runtime.session())).toMatchObject({ data: { a: 'one' }, metadata: { replayed: true } })
  await runtime.register([other.tool], { update: true })
  const withheld = await open(runtime.session())
  expect(withheld.error).toMatchObject({ reason: 'invalid_output', issues: [{ pointer: '/a' }] })
  expect(withheld.data).toBeUndefined()
  expect([old.ran, same.ran, other.ran].map(({ length }) => length)).toEqual([1, 0, 0])
})

test('a call that joins a running one is decided by itself, by what is in force when that one has ended (CALL-4)', async () => {
  const go = Promise.withResolvers<void>()
  const { runtime, ran } = await openVault(
    { policy: { rules: [{ ...denySecret, roles: ['sub'] }] } },
    { run: () => go.promise.then(() => 'content') },
  )
  const first = open(runtime.session())
  await expect.poll(() => ran.length).toBe(1)
  const stopped = new AbortController()
  const session = runtime.session()
  const closing = runtime.session()
  const joined = [
    open(runtime.session()),
    open(runtime.session(asSub)),
    session.call('vault.open', { path }, { idempotencyKey: 'first', signal: stopped.signal }),
    open(closing),
  ]
  await Promise.resolve()
  stopped.abort()
  await closing.close()
  expect((await joined[2])?.error?.reason).toBe('aborted_by_user')
  expect((await joined[3])?.error?.reason).toBe('run_cancelled')
  const late = open(runtime.session({ actor: 'user', role: 'orchestrator' }))
  go.resolve()
  expect((await first).ok).toBe(true)
  expect((await joined[0])?.metadata.replayed).toBe(true)
  expect((await joined[1])?.error?.reason).toBe('rule_denied')
  expect((await late).metadata.replayed).toBe(true)
  expect(ran).toHaveLength(1)
})

test('a policy that changes while a call waits for another one with its key decides about it (AUTH-5, CALL-4)', async () => {
  const go = Promise.withResolvers<void>()
  const { runtime, ran } = await openVault({}, { run: () => go.promise.then(() => 'content') })
  const first = open(runtime.session())
  await expect.poll(() => ran.length).toBe(1)
  const joined = open(runtime.session())
  await runtime.reload({ policy: { rules: [denySecret] } })
  go.resolve()
  expect((await first).ok).toBe(true)
  expect((await joined).error?.reason).toBe('rule_denied')
})

test('a preflight with a key says what the call would get, and takes nothing (CALL-1, CALL-4)', async () => {
  const { runtime, ran } = await openVault(
    { approve: personSaying('allow_once').approve },
    { permission: 'write' },
  )
  const ask = (options: SessionOptions, input: unknown = { path }) =>
    runtime.session(options).preflight('vault.open', input, { idempotencyKey: 'first' })
  expect(await ask({})).toMatchObject({ effect: 'ask' })
  expect((await ask({})).keptFrom).toBeUndefined()
  const { callId } = await open(runtime.session())
  expect(await ask({})).toMatchObject({ effect: 'allow', keptFrom: callId })
  expect(await ask(asSub)).toMatchObject({
    effect: 'ask',
    keptFrom: callId,
    preview: { title: expect.stringContaining(callId) as string },
  })
  expect(await ask({ actor: 'ann' })).toMatchObject({ effect: 'ask' })
  expect(await ask({}, { path: 'other' })).toMatchObject({
    effect: 'deny',
    error: { code: 'IDEMPOTENCY.CONFLICT' },
  })
  await runtime.reload({ policy: { rules: [denySecret] } })
  expect(await ask({})).toMatchObject({ effect: 'deny', keptFrom: callId, error: { reason: 'rule_denied' } })
  expect(ran).toHaveLength(1)
})

test('a hook is told whether a call is made or only asked about (HOOK-1, CALL-1)', async () => {
  const seen: boolean[] = []
  const hooks = [
    {
      name: 'h',
      before: ({ preflight }: { preflight: boolean }) => {
        seen.push(preflight)
        return { decision: 'allow' as const }
      },
    },
  ]
  const { runtime } = await openVault({ hooks })
  await runtime.session().preflight('vault.open', { path }, { idempotencyKey: 'first' })
  await open(runtime.session())
  expect(seen).toEqual([true, false])
})

test('what a kept call reached is known without its secrets: only what is decided by the same gets its result (CALL-4, OUT-4)', async () => {
  const token = `ghp_${'a'.repeat(36)}`
  const { runtime, ran } = await openVault()
  const input = { path: `secret/${token}.txt` }
  expect((await open(runtime.session(), input)).ok).toBe(true)
  expect((await open(runtime.session(), input)).metadata.replayed).toBe(true)
  expect((await open(runtime.session(asSub), input)).error).toMatchObject({ reason: 'kept_undecided' })
  await runtime.reload({
    policy: { rules: [{ effect: 'deny', resources: [`handrail:file:{project}/secret/${token}.txt`] }] },
  })
  expect((await open(runtime.session(), input)).error?.reason).toBe('kept_undecided')
  await runtime.reload({ policy: {} })
  expect((await open(runtime.session(), input)).metadata.replayed).toBe(true)
  expect(ran).toHaveLength(1)
})

test('a replay leaves its decision in the evidence, and can be explained (CALL-4, EVID-2)', async () => {
  const { runtime } = await openVault()
  await open(runtime.session())
  const again = await open(runtime.session())
  const records = [...runtime.store.records({ call: again.callId })]
  expect(records.map(({ kind }) => kind)).toEqual(['begin', 'end'])
  const begin = JSON.parse(records[0]?.text ?? '') as BeginRecord
  expect(begin).toMatchObject({ decision: { effect: 'allow', layer: 'defaults', rule: 'readonly' } })
  expect(begin.plan).toMatch(/^[\w-]{43}$/)
  expect(begin.idempotencyKey).toMatch(/^[\w-]{22}$/)
})

test('a yes is to a tool as it was seen, and a key of a tool of its source (CALL-4, PERM-4)', async () => {
  const person = personSaying('allow_once')
  const [old, other, mine] = [vault(write), vault({ ...write, description: 'Opens it.' }), vault(write)]
  const runtime = await openRuntime({ tools: [old.tool], store: 'memory', approve: person.approve })
  await open(runtime.session())
  expect((await open(runtime.session())).metadata.replayed).toBe(true)
  expect(person.asked).toHaveLength(1)
  await runtime.register([{ ...other.tool, definition: { ...other.tool.definition, version: '1.0.1' } }], {
    update: true,
  })
  expect((await open(runtime.session())).metadata.replayed).toBe(true)
  expect(person.asked).toHaveLength(2)
  await runtime.remove(['vault.open'])
  await runtime.register([{ id: 'mine', kind: 'code', list: () => [mine.tool] }])
  expect((await open(runtime.session())).error?.reason).toBe('same_key_other_tool')
  expect([old, other, mine].flatMap(({ ran }) => ran)).toHaveLength(1)
})

test('a kept result says of its call what holds of that one: ids, repairs, hooks, the person who let it be given (CALL-4, PERM-4, HOOK-1)', async () => {
  let name = 'ann'
  const { runtime } = await openVault(
    {
      approve: async () => ({ decision: 'allow_once', reason: `says ${name}` }),
      hooks: [{ name: 'guard', before: () => ({ decision: 'allow', notes: [`seen by ${name}`] }) }],
    },
    write,
  )
  const openAs = (session: Session, id: string, more: object = {}) =>
    session.call('vault.open', { path }, { idempotencyKey: 'first', id, ...more })
  await openAs(runtime.session(), 'provider-1', { rawName: 'vault_open' })
  await runtime.setToolState('vault.open', 'deprecated', { by: 'ann', reason: 'Use another one.' })
  name = 'bob'
  const asked = await openAs(runtime.session(asSub), 'provider-2')
  expect(asked.metadata).toEqual({
    session: expect.any(String) as string,
    durationMs: expect.any(Number) as number,
    replayed: true,
    rawId: 'provider-2',
    approval: { decision: 'allow_once', reason: 'says bob' },
    hookNotes: ['seen by bob'],
    deprecated: 'Use another one.',
  })
  const unasked = await openAs(runtime.session(), 'provider-3')
  expect(unasked.metadata).not.toHaveProperty('approval')
})

test('obligations of now hold for what hooks noted about a kept result (CALL-4, OUT-3)', async () => {
  const note = 'asked by ann@example.org'
  const { runtime } = await openVault({
    hooks: [{ name: 'guard', before: () => ({ decision: 'allow', notes: [note] }) }],
  })
  expect((await open(runtime.session())).metadata.hookNotes).toEqual([note])
  await runtime.reload({
    policy: { obligations: [{ id: 'mail', action: 'redact', patterns: ['[a-z]+@[a-z.]+'] }] },
  })
  const { metadata } = await open(runtime.session())
  expect(metadata).toMatchObject({ replayed: true, hookNotes: ['asked by [redacted]'] })
})

test('whoever gets a kept result can read the whole of it, in another role too (CALL-4, OUT-1)', async () => {
  const long = `${'x'.repeat(50_000)} the end`
  const { tool } = vault({ run: () => long })
  const runtime = await openRuntime({ tools: [tool, artifactTools()], store: 'memory' })
  await open(runtime.session())
  const session = runtime.session({ role: 'sub', allowedTools: ['vault.*', 'artifact.*'] })
  const { content } = await open(session)
  const [uri = ''] = /handrail:\/\/artifact\/\S+/.exec(JSON.stringify(content)) ?? []
  const read = await session.call('artifact.read', { uri, offset: 49_990 })
  expect(JSON.stringify(read.content)).toContain('the end')
})

test('what a person took to answer is not counted where another process was faster with the key (CALL-4, EVID-1)', async () => {
  const project = makeFolder()
  const store = { path: join(makeFolder(), 'store.db') }
  const { tool } = vault(write)
  const answers = [0, 1].map(() => Promise.withResolvers<ApprovalAnswer>())
  const asked = answers.map(() => Promise.withResolvers<void>())
  let clock = 0
  const runtimes = await Promise.all(
    answers.map(({ promise }, index) =>
      openRuntime({
        tools: [tool],
        project,
        store,
        now: () => clock,
        approve: () => {
          asked[index]?.resolve()
          return promise
        },
      }),
    ),
  )
  const calls = runtimes.map((runtime) => open(runtime.session()))
  await Promise.all(asked.map(({ promise }) => promise))
  for (const answer of answers) {
    clock += 600_000
    answer.resolve({ decision: 'allow_once' })
    await Promise.race(calls)
  }
  const results = await Promise.all(calls)
  expect(results.map(({ metadata }) => metadata)).toMatchObject([
    { durationMs: 0 },
    { replayed: true, durationMs: 0 },
  ])
})

test('calls that wait for one with their key go on where that one starts anew and ends before its key is read (CALL-4)', async () => {
  const place = { project: makeFolder(), store: { path: join(makeFolder(), 'store.db') } }
  const gate = Promise.withResolvers<string>()
  const openOne = async () => {
    const { tool, ran } = vault({ concurrency: 'serial', run: (of) => (of === 'gate' ? gate.promise : of) })
    return { runtime: await openRuntime({ tools: [tool], ...place }), ran }
  }
  const [here, elsewhere] = [await openOne(), await openOne()]
  const [session, beside] = [here.runtime.session(), here.runtime.session()]
  const busy = session.call('vault.open', { path: 'gate' }, { idempotencyKey: 'busy' })
  await expect.poll(() => here.ran).toEqual(['gate'])
  const first = open(session)
  const waiting = open(beside)
  await open(elsewhere.runtime.session())
  session.restrict({ disallowedTools: ['vault.*'] })
  gate.resolve('')
  await busy
  expect((await first).error?.reason).toBe('tool_not_available')
  expect((await waiting).metadata.replayed).toBe(true)
})

test('artifacts that were kept under another policy are withheld where the policy of now obliges to anything (CALL-4, OUT-3)', async () => {
  const { tool } = vault({ run: () => `ann@mail.example ${'x'.repeat(60_000)}` })
  const runtime = await openRuntime({ tools: [tool, artifactTools()], store: 'memory' })
  const session = runtime.session()
  const uriIn = (result: unknown) =>
    /handrail:\/\/artifact\/[\w/:.-]+/.exec(JSON.stringify(result))?.[0] ?? ''
  const first = await open(session)
  const again = await open(session)
  expect([first.artifacts.length, again.artifacts.length]).toEqual([1, 1])
  await runtime.reload({
    policy: { obligations: [{ id: 'mail', action: 'redact', patterns: ['[a-z]+@[a-z.]+'] }] },
  })
  const treated = await open(runtime.session())
  expect([treated.ok, treated.artifacts]).toEqual([true, []])
  expect(JSON.stringify(treated)).not.toContain('ann@mail')
  expect(JSON.stringify(treated.content)).toContain('artifacts are withheld')
  const read = await runtime.session().call('artifact.read', { uri: uriIn(treated) })
  expect(read.ok).toBe(false)
})
