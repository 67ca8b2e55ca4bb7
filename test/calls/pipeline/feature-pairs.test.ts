import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  createRuntime,
  defineTool,
  type ApprovalAnswer,
  type Policy,
  type Runtime,
  type Session,
  type ToolResult,
} from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import type { Consent } from 'handrail/policy'
import { afterAll, expect, test } from 'vitest'
import {
  CallModel,
  inputs,
  sessionOf,
  type Ending,
  type ModelCall,
  type PolicyName,
} from '../../support/call-model.ts'
import { rounds } from '../../support/rounds.ts'

const scenarios = rounds({ usual: 50, long: 10_000 })

const root = mkdtempSync(join(tmpdir(), 'handrail-pairs-'))
afterAll(() => rmSync(root, { recursive: true }))

/** What happens in a scenario, in the words of the call that it starts with. */
type Step =
  | { does: 'call'; change: Change }
  | { does: 'pair'; change: Change; other: Change }
  | { does: 'kill'; change: Change }
  | { does: 'consent'; given: boolean }
  | { does: 'reload'; policy: PolicyName }

/** Ways in which two calls may differ. */
const features = {
  tenant: fc.constantFrom<ModelCall['tenant'][]>('local', 'acme'),
  actor: fc.constantFrom<ModelCall['actor'][]>('ann', 'bob'),
  role: fc.constantFrom<ModelCall['role'][]>('main', 'orchestrator', 'sub'),
  mode: fc.constantFrom<ModelCall['mode'][]>('default', 'accept-edits', 'bypass', 'plan'),
  key: fc.constantFrom<ModelCall['key'][]>('order-1', 'order-2', undefined),
  input: fc.integer({ min: 0, max: inputs.length - 1 }),
  answer: fc.constantFrom<ModelCall['answer'][]>('allow_once', 'allow_for_session', 'deny', 'fail'),
  abort: fc.constantFrom<ModelCall['abort'][]>('no', 'before', 'while it runs'),
}

const base = fc.record<ModelCall>({
  ...features,
  role: fc.constantFrom('main', 'sub'),
  mode: fc.constantFrom('default', 'default', 'bypass'),
  key: fc.constant('order-1'),
  answer: fc.constantFrom('allow_once', 'allow_once', 'allow_for_session'),
  abort: fc.constant('no'),
})

type Change = Partial<ModelCall>

const oneChange: fc.Arbitrary<Change> = fc.oneof(
  ...Object.entries(features).map(([name, value]) => fc.record<Change>({ [name]: value })),
)
/** At most two features of a call are others than those of the first one. */
const change: fc.Arbitrary<Change> = fc
  .array(oneChange, { maxLength: 2 })
  .map((changes) => Object.assign({}, ...changes) as Change)

const policyName = fc.constantFrom<PolicyName[]>(
  'nothing',
  'allow',
  'deny',
  'deny files',
  'deny sub secret',
  'ask',
  'hide',
  'ann only',
)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ does: fc.constant('call' as const), change }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('pair' as const), change, other: change }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('kill' as const), change }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('consent' as const), given: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('reload' as const), policy: policyName }) },
)

const own: { readonly [name in PolicyName]: Policy } = {
  nothing: {},
  allow: { rules: [{ effect: 'allow', tools: ['bank.*'] }] },
  deny: { rules: [{ effect: 'deny', tools: ['bank.*'] }] },
  'deny files': { rules: [{ effect: 'deny', resources: ['handrail:file:{project}/**'] }] },
  'deny sub secret': {
    rules: [{ effect: 'deny', roles: ['sub'], resources: ['handrail:file:{project}/secret/**'] }],
  },
  ask: { rules: [{ effect: 'ask', tools: ['bank.*'] }] },
  hide: { obligations: [{ id: 'accounts', action: 'redact', patterns: ['acct-[0-9]+'] }] },
  'ann only': { grants: [{ id: 'ann', actors: ['ann'] }] },
}

const policyOf = (name: PolicyName): Policy => ({ ...own[name], allowBypass: true, tenants: { acme: {} } })

/** The world of one scenario: a runtime that can die, a tool, and a person. */
class World {
  readonly #store: 'memory' | { path: string }
  #runtime: Runtime | undefined
  #sessions = new Map<string, Session>()
  #consents = new Map<string, Consent>()
  #policy: PolicyName = 'nothing'
  #hangs: PromiseWithResolvers<void> | undefined
  #answer: ModelCall['answer'] = 'deny'
  asked = 0
  effects = 0

  constructor(store: 'memory' | { path: string }) {
    this.#store = store
  }

  get runtime(): Runtime {
    if (this.#runtime === undefined) throw new Error('It is not open.')
    return this.#runtime
  }

  async open(): Promise<void> {
    this.#runtime = await createRuntime({
      project: root,
      home: root,
      store: this.#store,
      tools: [this.#tool()],
      policy: policyOf(this.#policy),
      approve: async () => this.#ask(),
      onError: () => {},
      limits: { repeatsPerSession: 1_000 },
    })
    this.#sessions.clear()
  }

  #tool() {
    return defineTool({
      name: 'bank.pay',
      description: 'Pays, and says how often it did.',
      sideEffect: 'filesystem',
      idempotency: 'optional',
      scopes: [{ resource: 'handrail:file:*', action: 'write' }],
      capabilities: { fs: { write: ['project'] } },
      input: {
        type: 'object',
        properties: { path: { type: 'string' }, token: { type: 'string' } },
        required: ['path'],
      },
      plan: ({ path }, { project }) => {
        const scope = inputs.find((input) => input.path === path)?.scope
        const operations = [{ kind: 'fs.write' as const, path: join(project, path) }]
        return { operations, ...(scope !== undefined && { scope }) }
      },
      run: async ({ path, token = 'none' }, { signal }) => {
        const run = ++this.effects
        if (this.#hangs !== undefined) {
          this.#hangs.resolve()
          await new Promise((_, reject) => signal.addEventListener('abort', reject, { once: true }))
        }
        return `acct-${run} ${path} ${token}`
      },
    })
  }

  async #ask(): Promise<ApprovalAnswer> {
    this.asked++
    if (this.#answer === 'fail') throw new Error('nobody there')
    return { decision: this.#answer }
  }

  #sessionOf(call: ModelCall): Session {
    const { tenant, actor, role, mode } = call
    const name = sessionOf(call)
    let session = this.#sessions.get(name)
    if (session === undefined)
      this.#sessions.set(
        name,
        (session = this.runtime.session({ tenant, actor, role, mode, allowedTools: ['bank.*'] })),
      )
    return session
  }

  make(call: ModelCall, signal?: AbortSignal): Promise<ToolResult> {
    const { path, token } = inputs[call.input] ?? { path: '' }
    this.#answer = call.answer
    return this.#sessionOf(call).call(
      'bank.pay',
      { path, ...(token !== undefined && { token }) },
      {
        ...(call.key !== undefined && { idempotencyKey: call.key }),
        ...(signal !== undefined && { signal }),
      },
    )
  }

  async call(call: ModelCall): Promise<Ending> {
    const before = this.asked
    if (call.abort === 'while it runs') return this.#see(before, await this.#abort(call))
    const signal = call.abort === 'before' ? AbortSignal.abort() : undefined
    return this.#see(before, await this.make(call, signal))
  }

  async #abort(call: ModelCall): Promise<ToolResult> {
    const { ended, stop } = await this.#startHanging(call)
    stop.abort()
    return ended
  }

  /** Resolves when the tool runs, or the call has ended without that. */
  async #startHanging(
    call: ModelCall,
  ): Promise<{ ended: Promise<ToolResult>; stop: AbortController; runs: boolean }> {
    const stop = new AbortController()
    this.#hangs = Promise.withResolvers()
    const ended = this.make(call, stop.signal)
    const runs = await Promise.race([this.#hangs.promise.then(() => true), ended.then(() => false)])
    this.#hangs = undefined
    return { ended, stop, runs }
  }

  async pair(one: ModelCall, other: ModelCall): Promise<Ending[]> {
    const results = await Promise.all([this.make(one), this.make(other)])
    return results.map((result) => this.#see(this.asked, result))
  }

  /** The store closes under the call, as at the death of its process: its begin stays without an end. */
  async kill(call: ModelCall): Promise<Ending> {
    const before = this.asked
    const { ended, stop, runs } = await this.#startHanging(call)
    const dead = this.runtime
    await dead.store.close()
    stop.abort()
    const result = await ended
    await dead.close().catch(() => {})
    await this.open()
    return runs ? { end: 'aborted', asked: this.asked - before, text: undefined } : this.#see(before, result)
  }

  async consent(tenant: ModelCall['tenant'], given: boolean): Promise<void> {
    const consent = this.#consents.get(tenant)
    if (consent !== undefined) await this.runtime.consents.revoke(tenant, consent.id, 'ann')
    this.#consents.delete(tenant)
    if (given)
      this.#consents.set(
        tenant,
        await this.runtime.consents.give({ tenant, tool: 'bank.pay', givenBy: 'ann' }),
      )
  }

  async reload(policy: PolicyName): Promise<void> {
    this.#policy = policy
    await this.runtime.reload({ policy: policyOf(policy) })
  }

  #see(before: number, result: ToolResult): Ending {
    const text = typeof result.data === 'string' ? result.data : undefined
    return { end: endOf(result), asked: this.asked - before, text }
  }
}

function endOf({ outcome, error, metadata }: ToolResult): Ending['end'] {
  if (metadata.replayed === true) return 'kept'
  if (error?.code === 'IDEMPOTENCY.CONFLICT') return 'conflict'
  if (error?.code === 'IDEMPOTENCY.OUTCOME_UNKNOWN') return 'unknown'
  if (outcome === 'ok') return 'ran'
  if (outcome === 'denied' || outcome === 'aborted') return outcome
  throw new Error(`It ended as ${outcome}: ${error?.message}`)
}

interface Scene {
  readonly first: ModelCall
  readonly world: World
  readonly model: CallModel
}

async function take(step: Step, { first, world, model }: Scene): Promise<void> {
  switch (step.does) {
    case 'call': {
      const call = { ...first, ...step.change }
      return expect(await world.call(call)).toEqual(model.call(call))
    }
    case 'pair':
      return takePair(step, { first, world, model })
    case 'kill': {
      const call = { ...first, ...step.change, abort: 'no' as const }
      expect(await world.kill(call)).toEqual(model.call(call, true))
      return model.die()
    }
    case 'consent':
      await world.consent(first.tenant, step.given)
      return model.consent(first.tenant, step.given)
    case 'reload':
      await world.reload(step.policy)
      model.policy = step.policy
  }
}

/** Both are of one actor with one key, and the person says the same to both. */
async function takePair(
  { change, other }: Extract<Step, { does: 'pair' }>,
  { first, world, model }: Scene,
): Promise<void> {
  const one: ModelCall = { ...first, ...change, key: 'order-1', abort: 'no' }
  const { role = one.role, mode = one.mode, input = one.input } = other
  const two: ModelCall = { ...one, role, mode, input }
  const before = world.asked
  const seen = await world.pair(one, two)
  const wanted = model.pair(one, two)
  const withoutAsked = ({ end, text }: Ending) => ({ end, text })
  expect(seen.map(withoutAsked)).toEqual(wanted.map(withoutAsked))
  expect(world.asked - before).toBe(wanted[0].asked + wanted[1].asked)
}

test(`${scenarios} random series of calls with keys, consents, roles, modes, reloads, tenants, aborts, secrets and kills come out as a model says (CALL-4, AUTH-2, AUTH-3, AUTH-5, PERM-4, OUT-3)`, async () => {
  let number = 0
  await fc.assert(
    fc.asyncProperty(base, fc.array(step, { minLength: 2, maxLength: 7 }), async (first, steps) => {
      const kills = steps.some(({ does }) => does === 'kill')
      const world = new World(kills ? { path: join(root, `${number++}`, 'store.db') } : 'memory')
      const model = new CallModel()
      await world.open()
      try {
        for (const each of steps) await take(each, { first, world, model })
        expect(world.effects).toBe(model.effects)
        expect(verifyEvidence(world.runtime.store).ok).toBe(true)
      } finally {
        await world.runtime.close()
      }
    }),
    { numRuns: scenarios },
  )
}, 1_200_000)
