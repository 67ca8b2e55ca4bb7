import { openAgentTasks } from '../agents/tasks/open-agent-tasks.ts'
import { createRunBook } from '../agents/loop/run-book.ts'
import { createRuntimeMemory } from '../agents/memory/create-runtime-memory.ts'
import type { RuntimeMemory } from '../contract/memory.ts'
import { SetupError } from '../contract/base/errors.ts'
import type { RuntimeEvent } from '../contract/events.ts'
import type { PolicyChange, Runtime, Session, SessionOptions } from '../contract/runtime.ts'
import type { PendingApprovals } from '../contract/pending-approval.ts'
import { copyJson } from '../kit/json/copy-json.ts'
import { createFrozenCopies } from '../kit/json/create-frozen-copies.ts'
import { requireOptions } from '../kit/json/find-wrong-kinds.ts'
import { once } from '../kit/time/once.ts'
import { checkQuery } from '../runtime/approvals/check-query.ts'
import type { ApprovalBook } from '../runtime/state/approval-book.ts'
import type { Family } from '../runtime/state/family.ts'
import type { TenantContext } from '../runtime/state/scope.ts'
import { listUndoable } from '../runtime/undo/list-undoable.ts'
import { openClosings } from './close-with.ts'
import { createToolChanges } from './change-tools.ts'
import { openAgents, type Agents } from './open-agents.ts'
import { openSchedules } from './open-schedules.ts'
import { openSession, type SessionPlace, type SessionSurroundings } from './open-session.ts'
import { refuseWrongKinds } from './options/check-options.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'
import { reloadPolicy } from './reload-policy.ts'
import { openRuntimeParts, type RuntimeParts } from './runtime-parts.ts'
import { tellMisspeltTools } from './tell-misspelt-tools.ts'
import { localTenant } from './tenant-contexts.ts'

/**
 * Puts a runtime together, as `createRuntime` does: with the digest of a policy that has these hooks, as a replay has a recording in their place; and for
 * an operator who does not write the program.
 */
export async function assembleRuntime(
  options: RuntimeOptions,
  hooks: RuntimeOptions['hooks'],
  operatedBy: TenantContext['operatedBy'] = 'program',
): Promise<Runtime> {
  refuseWrongKinds(options)
  const parts = await openRuntimeParts(options, hooks, operatedBy)
  tellMisspeltTools(options, parts)
  return toRuntime(parts)
}

const partsOf = new WeakMap<Runtime, RuntimeParts>()

/** What a runtime is made of that this module made. */
export function findParts(runtime: Runtime): RuntimeParts {
  const parts = partsOf.get(runtime)
  if (parts === undefined) throw new Error('The runtime was not made here.')
  return parts
}

function toRuntime(parts: RuntimeParts): Runtime {
  const { resolved, announcements, stores, registry, consents, tenants, feeds } = parts
  const approvals = toPendingApprovals(parts.approvals)
  const { store, evidence, archive, artifacts } = stores
  const sessions = new Set<Session>()
  const families = new WeakMap<Session, Family>()
  let closed = false
  const refuseIfClosed = (): void => {
    if (closed) throw new SetupError('closed', 'This runtime is closed. Make a new one with createRuntime.')
  }
  const around: SessionSurroundings = {
    families,
    listener(event: RuntimeEvent) {
      archive?.event(event)
      announcements.announce(event)
    },
    watched: () => announcements.isFollowed() || archive !== undefined,
    onClosed: (session) => sessions.delete(session),
    isRuntimeClosed: () => closed,
    lease: (tenant) => registry.lease(tenant),
  }
  const open = (options: SessionOptions = {}, place: SessionPlace = {}): Session => {
    refuseIfClosed()
    const session = openSession(tenants, requireOptions(options, 'runtime.session'), { ...around, ...place })
    sessions.add(session)
    return session
  }
  const agents = openAgents(parts, { approvals, families, openSession: open, options: parts.resolved.agents })
  const schedules = openSchedules(parts, { agents, approvals, openSession: open })
  const runtime: Runtime = {
    project: resolved.project,
    registry,
    store,
    artifacts,
    consents,
    approvals,
    sandbox: tenants.of(localTenant).context.sandbox.describe(),
    get policyDigest() {
      return tenants.of(localTenant).context.policy.digest
    },
    get policyVersion() {
      return tenants.version
    },
    session: (options) => open(options),
    runs: agents.runs,
    tasks: openAgentTasks((tenant) => tenants.of(tenant).context.tasks),
    schedules,
    memory: openMemory(parts, agents),
    async run(options) {
      refuseIfClosed()
      return agents.run(requireOptions(options, 'runtime.run'))
    },
    async reload(change: PolicyChange) {
      refuseIfClosed()
      await reloadPolicy(requireOptions(change, 'runtime.reload'), {
        tenants,
        evidence,
        now: resolved.now,
        announce: (event) => announcements.announce(event),
      })
      tellMisspeltTools(change, parts)
    },
    ...createToolChanges({ registry, findTenantIssue: (tenant) => tenants.findTenantIssue(tenant) }),
    settled: (withinMs = 10_000) => untilSettled(feeds, withinMs),
    on: (listener) => announcements.on(listener),
    stops: parts.stops.stops,
    ...toAfterwards(parts),
    close: once(async () => {
      closed = true
      await schedules.close()
      await agents.close()
      await Promise.all([...sessions].map((session) => session.close()))
      closeAll()
      await closeParts(parts)
    }),
  }
  const closeAll = openClosings(runtime)
  partsOf.set(runtime, parts)
  return runtime
}

/** What is done about calls that began. */
function toAfterwards({
  books,
  stores,
  stops,
}: RuntimeParts): Pick<Runtime, 'abort' | 'receiveCallback' | 'undoable'> {
  return {
    abort: async (call, about) => (await stops.stops.abort({ call, ...about })).calls.length > 0,
    receiveCallback: (request) => books.jobCallbacks.receive(request),
    undoable: (query) => listUndoable(stores.history, query),
  }
}

async function closeParts({
  approvals,
  stops,
  feeds,
  registry,
  tenants,
  launcher,
  isolates,
  stores,
}: RuntimeParts): Promise<void> {
  approvals.close()
  stops.close()
  await Promise.all(feeds.map((feed) => feed.close()))
  await registry.close()
  await tenants.close()
  await launcher.close()
  await isolates.close()
  await stores.close()
}

/** What a program may do with approvals: the pipeline does more. */
function toPendingApprovals(book: ApprovalBook): PendingApprovals {
  const shown = createFrozenCopies()
  return {
    list: (query = {}) => copyJson(book.list(checkQuery(query))),
    find(id) {
      const found = book.find(id)
      return found && copyJson(found)
    },
    decide: async (id, decision) => copyJson(await book.decide(id, decision)),
    watch: (listener) => book.watch((waiting) => listener(waiting.map(shown))),
  }
}

async function untilSettled(feeds: RuntimeParts['feeds'], withinMs: number): Promise<void> {
  await Promise.all(feeds.map((feed) => feed.settled(withinMs)))
}

/** Opens the memory of a runtime for who operates it. */
function openMemory(
  { stores: { store }, tenants, resolved, redactor, facts }: RuntimeParts,
  agents: Agents,
): RuntimeMemory {
  return createRuntimeMemory({
    store,
    folder: facts,
    runs: createRunBook(store),
    startAgent: (options, id) => agents.runAs(id, options),
    redact: (text) => redactor.text(text),
    now: resolved.now,
    project: resolved.project,
    model: resolved.agents.model,
    checkTenant: (tenant) => void tenants.of(tenant),
  })
}
