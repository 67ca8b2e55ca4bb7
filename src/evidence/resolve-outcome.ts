import type { BeginRecord, EndRecord, NoteRecord, StoredRecord } from '../contract/evidence.ts'
import type { Json } from '../contract/json.ts'
import type { ContentBlock } from '../contract/result.ts'
import type { BudgetSettlement, KeyResolution, Store } from '../contract/store.ts'
import { foldResult } from '../kit/fold-result.ts'

export interface ResolveRequest {
  store: Store
  call: string
  /** Default: the tenant of the call. */
  tenant?: string
  outcome: KeyResolution['outcome']
  /** What the call would have given, where that is known. */
  result?: Json
  /** Why the person is sure. */
  reason?: string
  actor: string
  /** Milliseconds since the epoch. */
  at: number
}

/**
 * Takes down what a person found out about a call whose outcome was unknown, in one transaction with what its idempotency key
 * answers from then on: the result where the effect happened, nothing where it did not. Says why where there is no such call, or its
 * outcome is known.
 */
export async function resolveOutcome(
  request: ResolveRequest,
): Promise<{ note: NoteRecord } | { refused: string }> {
  const { store, call, outcome } = request
  const end = findUnknown(request)
  if (typeof end === 'string') return { refused: end }
  const note = toNote(request, end)
  const result = outcome === 'happened' ? foldResult(toResult(end, request.result)) : ''
  const settle = outcome === 'happened' ? [] : giveBack(store, end)
  const resolution = { tenant: end.tenant, call, outcome, result }
  try {
    await store.append([{ record: note, body: null }], { resolve: [resolution], settle })
    return { note }
  } catch (error) {
    // The store takes one finding for a call, so that of two at the same time one is refused here.
    const refused = findUnknown(request)
    if (typeof refused === 'string') return { refused }
    throw error
  }
}

/** What a call spent that did not happen, as far as its end says so. */
function giveBack(store: Store, { tenant, call, spent = {} }: EndRecord): BudgetSettlement[] {
  for (const { text } of store.records({ tenant, call, kind: 'begin' })) {
    // The store gives back the text that was made from a begin.
    const { reserved = [] } = JSON.parse(text) as BeginRecord
    return [{ call, spent: reserved.map((each) => ({ ...each, units: -(spent[each.budget] ?? 0) })) }]
  }
  return []
}

/** What a person found out about a call, where somebody did. */
export function findResolution(
  store: Store,
  { tenant, call }: { tenant: string; call: string },
): NoteRecord | undefined {
  for (const { text } of store.records({ tenant, call, kind: 'note' })) {
    // The store gives back the text that was made from a note.
    const note = JSON.parse(text) as NoteRecord
    if (note.event === 'outcome_resolved') return note
  }
  return undefined
}

/** The end of the call, or why it cannot be resolved. */
function findUnknown({ store, call, tenant }: ResolveRequest): EndRecord | string {
  const [begin] = store.records({ call, kind: 'begin', ...(tenant !== undefined && { tenant }) })
  if (begin === undefined)
    return `There is no call "${call}". "handrail evidence list" shows those there are.`
  const end = readEnd(store, begin)
  if (end === undefined) return `The call "${call}" is still running.`
  if (end.outcome !== 'unknown')
    return `The outcome of the call "${call}" is known: ${end.outcome}. Only an unknown one can be resolved.`
  const earlier = findResolution(store, end)
  if (earlier === undefined) return end
  return `The call "${call}" was resolved before, by ${earlier.actor ?? 'somebody'} at ${new Date(earlier.at).toISOString()}.`
}

function readEnd(store: Store, { tenant, call }: StoredRecord): EndRecord | undefined {
  // The store gives back the text that was made from an end.
  for (const { text } of store.records({ tenant, call, kind: 'end' })) return JSON.parse(text) as EndRecord
  return undefined
}

function toNote(request: ResolveRequest, end: EndRecord): NoteRecord {
  const { outcome, result, reason, actor, at, call } = request
  return {
    kind: 'note',
    event: 'outcome_resolved',
    tenant: end.tenant,
    session: end.session,
    call,
    at,
    message: reason ?? '',
    actor,
    tool: end.tool,
    data: { outcome, ...(result !== undefined && { result }) },
  }
}

function toResult(
  { call, tool, session }: EndRecord,
  data: Json | undefined,
): Parameters<typeof foldResult>[0] {
  const content: ContentBlock[] =
    data === undefined
      ? [
          {
            type: 'text',
            text: 'A person found out that this call did what it should. What it gave is not known.',
          },
        ]
      : typeof data === 'string'
        ? [{ type: 'text', text: data }]
        : [{ type: 'json', json: data }]
  return {
    callId: call,
    toolCallId: call,
    tool,
    ok: true,
    outcome: 'ok',
    content,
    ...(data !== undefined && { data }),
    summary: `${tool}: done, as a person found out`,
    artifacts: [],
    metadata: { session, durationMs: 0 },
  }
}
