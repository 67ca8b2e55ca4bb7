import type { CallRequest } from '../../contract/call-request.ts'
import { SetupError, type CallError } from '../../contract/base/errors.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { TurnResult } from '../../contract/runtime.ts'
import { callError } from '../../kit/result/call-error.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { CallScope } from '../state/scope.ts'
import type { TurnPlace } from '../state/turn-place.ts'
import { createOpenReads, type CallClass, type OpenReads } from './open-reads.ts'
import { createSlots } from '../limits/create-slots.ts'

/** What a turn needs of its session. */
export interface TurnContext {
  scope: CallScope
  signal: AbortSignal | undefined
  /** Whether the session has ended. */
  isClosed(): boolean
  start(request: CallRequest, inTurn: InTurn): Promise<ToolResult>
  /** Ends a call without running it, with its evidence. */
  skip(request: CallRequest, error: CallError): Promise<ToolResult>
}

/** What a turn passes to each of its calls. */
export interface InTurn {
  signal: AbortSignal | undefined
  place: TurnPlace | undefined
}

/**
 * Runs the calls of one model answer in model order: neighbouring reads together, neighbouring agent-starting calls together, each
 * write alone. After a write that failed or was denied the rest does not run. There is one result for every call, in call order.
 *
 * If the configuration lets writes overlap, a write does not wait for earlier reads that touch something else. It starts once
 * they all have, so that approvals, counts and limits come in model order; and what comes after it waits for its end, because it
 * may have to stop the rest.
 */
export async function runTurn(calls: readonly CallRequest[], context: TurnContext): Promise<TurnResult> {
  if (!Array.isArray(calls)) throw new SetupError('invalid_options', noList)
  const openReads = mayOverlap(context.scope, calls.length) ? createOpenReads() : undefined
  const start = createStart(context, openReads)
  const ends: Promise<ToolResult>[] = []
  let endReason: TurnResult['endReason'] = 'completed'
  for (const { kind, calls: group, isLater } of groupCalls(calls, context.scope)) {
    await openReads?.before(isLater ? 'agent' : kind)
    if (isCancelled(context)) endReason = 'aborted_tools'
    if (endReason !== 'completed') {
      const error = skipError(endReason)
      ends.push(...group.map((call) => context.skip(call, error)))
      continue
    }
    const started = group.map((call) => start(call, kind))
    ends.push(...started)
    if (kind === 'read' && openReads !== undefined) continue
    const results = await Promise.all(started)
    if (isCancelled(context)) endReason = 'aborted_tools'
    else if (stopsTheRest(kind, results, context)) endReason = 'stopped_after_failed_write'
  }
  const results = await Promise.all(ends)
  if (endReason === 'completed' && isCancelled(context)) endReason = 'aborted_tools'
  return { results, endReason }
}

/** A write that failed or was denied; of agents that start beside each other, one that may change something and was denied. */
function stopsTheRest(kind: CallClass, results: readonly ToolResult[], { scope }: TurnContext): boolean {
  if (kind === 'read') return false
  if (kind === 'write') return results.some(({ ok, outcome }) => !ok && outcome !== 'waiting')
  return results.some(
    ({ outcome, tool }) =>
      outcome === 'denied' && scope.session.find(tool, 'canonical')?.definition.permission === 'write',
  )
}

/** Budgets, counts that run out and hooks that see the end of a call could make the next one end otherwise. */
function mayOverlap({ tenant, session }: CallScope, calls: number): boolean {
  const { overlapCalls, budgets, hooks, limits } = tenant
  if (!overlapCalls || budgets !== undefined || hooks.after.length > 0) return false
  const { callsPerSession = Number.POSITIVE_INFINITY } = limits
  return session.counts.family.made + calls <= callsPerSession
}

/** Starts calls, so many of a class at a time, first come, first served. */
function createStart(context: TurnContext, openReads: OpenReads | undefined) {
  const { parallelReads, parallelAgents } = context.scope.tenant.limits
  const limits = { read: parallelReads, agent: parallelAgents, write: Number.POSITIVE_INFINITY }
  const slots = createSlots()
  const startInLine = async (call: CallRequest, limit: number, place?: TurnPlace): Promise<ToolResult> => {
    if (!slots.take(limit)) await slots.join(limit).taken
    try {
      return await (isCancelled(context)
        ? context.skip(call, skipError('aborted_tools'))
        : context.start(call, { signal: context.signal, place }))
    } finally {
      slots.free()
    }
  }
  return (call: CallRequest, kind: CallClass): Promise<ToolResult> =>
    kind === 'read' && openReads !== undefined
      ? openReads.follow((place) => startInLine(call, limits.read, place))
      : startInLine(call, limits[kind], openReads?.behind)
}

const noList =
  'session.turn takes the calls of one model answer as a list, such as [{ id, tool, input }]. For a single call there is session.call.'

interface Group {
  kind: CallClass
  calls: CallRequest[]
  /** It begins with a call of a serial tool that an earlier call of the turn is of: those run in call order. */
  isLater: boolean
}

function groupCalls(calls: readonly CallRequest[], scope: CallScope): Group[] {
  const groups: Group[] = []
  const serial = new Set<string>()
  for (const given of calls) {
    const call = toRequest(given)
    const { kind, name } = classify(call, scope)
    const isLater = name !== undefined && serial.has(name)
    if (name !== undefined) serial.add(name)
    const last = groups.at(-1)
    if (last !== undefined && last.kind === kind && kind !== 'write' && !isLater) last.calls.push(call)
    else groups.push({ kind, calls: [call], isLater })
  }
  return groups
}

/** A call that is not an object still gets its result: the pipeline refuses what has no tool name. */
export function toRequest(given: CallRequest | undefined): CallRequest {
  if (!isPlainObject(given)) return { tool: '' }
  // A copy: it is sorted now, and may start much later.
  return { ...given }
}

/** What is unknown or malformed has no effect and counts as a read. A tool has its name here if it is serial. */
function classify(call: CallRequest, { session }: CallScope): { kind: CallClass; name?: string } {
  const registered = session.find(call.tool, call.presentation ?? 'canonical')
  if (registered === undefined) return { kind: 'read' }
  const { name, tags, permission, concurrency } = registered.definition
  // What the calls of a program do is not known ahead: it stands alone.
  const isRead = permission === 'readonly' && !tags.includes('program')
  const kind = tags.includes('agent') ? 'agent' : isRead ? 'read' : 'write'
  return { kind, ...(concurrency === 'serial' && { name }) }
}

function isCancelled(context: TurnContext): boolean {
  return context.signal?.aborted === true || context.isClosed()
}

function skipError(reason: TurnResult['endReason']): CallError {
  if (reason === 'aborted_tools') {
    return callError('TOOL.ABORTED', 'run_cancelled', {
      message: 'The turn was aborted before this call could run. It did nothing.',
    })
  }
  return callError('TOOL.ABORTED', 'not_run_after_failed_write', {
    message:
      'An earlier write of this turn failed or was denied, so this call did not run. Look at that result first, then call again if it still makes sense.',
  })
}
