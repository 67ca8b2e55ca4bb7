import type { CallRequest } from '../contract/call.ts'
import type { CallError } from '../contract/errors.ts'
import type { ToolResult } from '../contract/result.ts'
import type { TurnResult } from '../contract/runtime.ts'
import { callError } from '../kit/call-error.ts'
import { isPlainObject } from '../kit/is-plain-object.ts'
import type { Road } from './ground.ts'

/** What a turn needs of its session. */
export interface TurnContext {
  road: Road
  signal: AbortSignal | undefined
  /** Whether the session has ended. */
  isClosed(): boolean
  start(request: CallRequest, signal: AbortSignal | undefined): Promise<ToolResult>
  /** Ends a call without running it, with its evidence. */
  skip(request: CallRequest, error: CallError): Promise<ToolResult>
}

/** What may overlap: reads with reads, agent-starting calls with each other, a write with nothing. */
type CallClass = 'read' | 'agent' | 'write'

/**
 * Runs the calls of one model answer in model order: neighbouring reads together, neighbouring agent-starting calls together, each
 * write alone. After a write that failed or was denied the rest does not run. There is one result for every call, in call order.
 */
export async function runTurn(calls: readonly CallRequest[], context: TurnContext): Promise<TurnResult> {
  const results: ToolResult[] = []
  let endReason: TurnResult['endReason'] = 'completed'
  for (const group of groupCalls(calls, context.road)) {
    if (isCancelled(context)) endReason = 'aborted_tools'
    if (endReason !== 'completed') {
      results.push(
        ...(await Promise.all(group.calls.map((call) => context.skip(call, skipError(endReason))))),
      )
      continue
    }
    const ended = await runGroup(group, context)
    results.push(...ended)
    if (isCancelled(context)) endReason = 'aborted_tools'
    else if (group.kind === 'write' && ended.some((result) => !result.ok))
      endReason = 'stopped_after_failed_write'
  }
  return { results, endReason }
}

interface Group {
  kind: CallClass
  calls: CallRequest[]
}

function groupCalls(calls: readonly CallRequest[], road: Road): Group[] {
  const groups: Group[] = []
  for (const given of calls) {
    const call = toRequest(given)
    const kind = classify(call, road)
    const last = groups.at(-1)
    if (last !== undefined && last.kind === kind && kind !== 'write') last.calls.push(call)
    else groups.push({ kind, calls: [call] })
  }
  return groups
}

/** A call that is no object still gets its result: the road refuses what has no tool name. */
function toRequest(given: unknown): CallRequest {
  if (!isPlainObject(given)) return { tool: '' }
  return given as unknown as CallRequest
}

/** What is unknown or malformed has no effect and counts as a read. */
function classify(call: CallRequest, { session }: Road): CallClass {
  const registered = session.find(call.tool, call.face ?? 'canonical')
  if (registered === undefined) return 'read'
  if (registered.definition.tags.includes('agent')) return 'agent'
  return registered.definition.permission === 'readonly' ? 'read' : 'write'
}

async function runGroup(group: Group, context: TurnContext): Promise<ToolResult[]> {
  const { parallelReads, parallelAgents } = context.road.ground.limits
  const limit = group.kind === 'write' ? 1 : group.kind === 'agent' ? parallelAgents : parallelReads
  const results: ToolResult[] = Array.from({ length: group.calls.length })
  let next = 0
  const work = async () => {
    while (next < group.calls.length) {
      const index = next++
      const call = group.calls[index]
      if (call === undefined) return
      results[index] = isCancelled(context)
        ? await context.skip(call, skipError('aborted_tools'))
        : await context.start(call, context.signal)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, group.calls.length) }, work))
  return results
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
