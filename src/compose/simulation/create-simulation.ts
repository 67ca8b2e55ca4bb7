import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Issue, JsonObject } from '../../contract/base/json.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Registered } from '../../contract/registry.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { createRuntime } from '../create-runtime.ts'
import { openSessionLike, type SessionLike } from '../replay/open-session-like.ts'
import { expandHome, realPlace } from '../options/resolve-places.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { toStubs } from './stub-tools.ts'
import { toSimulatedDecision, type SimulatedDecision } from './to-simulated-decision.ts'

/** A simulated policy: what it says of calls that no caller makes. Ask about one call at a time. Close it. */
export interface Simulation {
  /** The project folder of a tenant. */
  projectOf(tenant: string): string
  /** The tenants that the policy names; undefined if it names none, so that there are any. */
  readonly tenants: readonly string[] | undefined
  /** What keeps sessions of its tenants from being opened, such as a folder that is not there. */
  findTenantIssues(): Issue[]
  /** A tool that the tenant has. */
  find(tool: string, tenant: string): Registered | undefined
  /** Those that the tenant has; without one, those that anybody has. */
  definitions(tenant?: string): readonly ToolDefinition[]
  /** What it says of a call with this input, which its tool plans. */
  judgeInput(caller: SessionLike, tool: string, input: unknown): Promise<SimulatedDecision>
  /** What it says of a call that would do this. */
  judgeReach(caller: SessionLike, tool: string, reach: Reach): Promise<SimulatedDecision>
  close(): Promise<void>
}

/** What is known of a call whose tool is not asked. */
export interface Reach {
  /** Undefined if that is not known, so that only what the tool alone decides counts. */
  operations: readonly Operation[] | undefined
  /** Undefined if that is not known, so that no rule on the input matches. */
  input?: JsonObject | undefined
}

/**
 * A simulation of what these options decide, in the pipeline of every call, in memory. No hook runs, no person is asked, and no tool does anything.
 * Throws a SetupError if the options make no runtime.
 */
export async function createSimulation(options: RuntimeOptions): Promise<Simulation> {
  const deciding: RuntimeOptions = {
    ...options,
    hooks: [],
    feeds: [],
    store: 'memory',
    // With an approver, a preflight reports when a person would be asked.
    approve: async () => ({ decision: 'deny' }),
  }
  let operations: readonly Operation[] | undefined
  const plan = () => {
    if (operations !== undefined) return { operations }
    throw new ToolFailure({ reason: 'failed', message: 'what the call would reach is not known' })
  }
  const real = await createRuntime(deciding)
  // What is to be told of the options was told of the real one.
  const silent = { ...deciding, onError: () => {} }
  const stub = await createRuntime({ ...silent, tools: toStubs(options.tools ?? [], plan) })
  const sessions = { real: openSessions(real), stub: openSessions(stub) }
  const tenants = options.policy?.tenants
  return {
    projectOf(tenant) {
      const own = tenants === undefined || !Object.hasOwn(tenants, tenant) ? undefined : tenants[tenant]
      return own?.project === undefined ? real.project : realPlace(expandHome(own.project, options.home))
    },
    tenants: tenants === undefined ? undefined : ['local', ...Object.keys(tenants)],
    findTenantIssues: () => Object.keys(tenants ?? {}).flatMap((tenant) => findTenantIssues(real, tenant)),
    find: (tool, tenant) => real.registry.view(tenant).find(tool),
    definitions(tenant) {
      const whose = tenant === undefined ? tenantsOf(options) : [tenant]
      return [...new Set(whose.flatMap((each) => real.registry.view(each).list()))].map(
        ({ definition }) => definition,
      )
    },
    async judgeInput(caller, tool, input) {
      const session = sessions.real(caller)
      return 'decided' in session ? session : toSimulatedDecision(await session.preflight(tool, input))
    },
    async judgeReach(caller, tool, reach) {
      const session = sessions.stub(caller)
      if ('decided' in session) return session
      operations = reach.operations
      return toSimulatedDecision(await session.preflight(tool, reach.input))
    },
    async close() {
      await real.close()
      await stub.close()
    },
  }
}

/** Those that have anything of their own. */
function tenantsOf({ policy, tools = [] }: RuntimeOptions): string[] {
  const ofTools = tools.flatMap((each) => ('list' in each ? (each.tenants ?? []) : []))
  return [...new Set(['local', ...Object.keys(policy?.tenants ?? {}), ...ofTools])]
}

function findTenantIssues(runtime: Runtime, tenant: string): Issue[] {
  try {
    runtime.session({ tenant })
    return []
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const at = pointerTo('/tenants', tenant)
    if (error.code === 'project_missing')
      return [{ pointer: `${at}/project`, code: error.code, message: error.message }]
    return error.issues.map((issue) => ({ ...issue, pointer: `${at}${issue.pointer}` }))
  }
}

/** One session for each caller; where none can be opened, the decision that this comes to. */
function openSessions(runtime: Runtime): (caller: SessionLike) => Session | SimulatedDecision {
  const known = new Map<string, Session | SimulatedDecision>()
  return (caller) => {
    const { tenant, actor, role, mode, parents } = caller
    const key = JSON.stringify([tenant, actor, role, mode, parents])
    let session = known.get(key)
    if (session === undefined) known.set(key, (session = openSession(runtime, caller)))
    return session
  }
}

function openSession(runtime: Runtime, caller: SessionLike): Session | SimulatedDecision {
  try {
    return openSessionLike(runtime, caller)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const deny = { decided: true, effect: 'deny', keepable: false } as const
    if (error.code === 'unknown_tenant')
      return { ...deny, layer: 'tenant', rule: 'unknown_tenant', reason: error.message }
    const refused = error.issues.find((issue) => issue.code === 'mode_denied')
    if (refused === undefined) throw error
    return { ...deny, layer: 'mode', rule: caller.mode ?? 'default', reason: refused.message }
  }
}
