import type { CallRequest } from '../../contract/call-request.ts'
import type { PartLook } from '../../contract/tool/part-calls.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import { prepare } from '../call/pipeline.ts'
import { bind } from '../call/steps/approve.ts'
import { recallForPreflight } from '../call/steps/recall.ts'
import { legsBefore } from '../parts/legs-before.ts'
import { previewOf } from '../permission/to-request.ts'
import { isHalted } from '../state/call-state.ts'
import type { SessionPartCalls } from '../state/part-of.ts'
import type { CallScope } from '../state/scope.ts'
import { recallResult } from './find-earlier.ts'
import type { SessionCalls } from './session-calls.ts'

/** The parts that calls of a session make. */
export function createPartCalls(calls: SessionCalls): SessionPartCalls {
  return {
    start: ({ parks, ...request }) =>
      calls.start(request, request.origin ?? 'api', { signal: undefined, place: undefined, parks }),
    look: (request) => look(request, calls),
    earlier: (part) => findEarlierPart(part, calls.scope()),
  }
}

async function look(request: CallRequest, calls: SessionCalls): Promise<PartLook> {
  const scope = calls.scope()
  const how = { recall: recallForPreflight, isPreflight: true }
  const reached = await prepare<never>(calls.look(request), scope, how)
  if (isHalted(reached))
    return { effect: 'deny', error: reached.halted, operations: reached.state.plan?.operations ?? [] }
  const { decision, plan } = reached
  return {
    effect: decision.effect,
    preview: previewOf(reached, scope),
    operations: plan.operations,
    binding: bind(reached, plan, scope),
  }
}

/**
 * What a part returned for the same call of a model, if that waited for a person then and comes back now: such a part is not called again.
 */
function findEarlierPart(
  { id, call }: { readonly id: string; readonly call: string },
  { tenant, session }: CallScope,
): ToolResult | undefined {
  const { store } = tenant
  const of = { tenant: session.principal.tenant, session: session.id, kind: 'begin' as const }
  const [own] = store.records({ tenant: of.tenant, call, kind: 'begin' })
  const legs = own === undefined ? [] : legsBefore(readRecord(own.text, 'begin'), store)
  if (legs.length === 0) return undefined
  const before = new Set(legs.map((leg) => leg.call))
  for (const { text } of store.records({ ...of, newestFirst: true })) {
    const { toolCallId, partOf, call: part } = readRecord(text, 'begin')
    if (toolCallId !== id || partOf === undefined || !before.has(partOf.call)) continue
    const result = recallResult(part, id, { tenant, session })
    return result?.ok === true ? result : undefined
  }
  return undefined
}
