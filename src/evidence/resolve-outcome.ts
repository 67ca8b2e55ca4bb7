import { readRecord } from '../kit/result/read-record.ts'
import type { BeginRecord, EndRecord, NoteRecord, StoredRecord } from '../contract/evidence.ts'
import type { Json } from '../contract/base/json.ts'
import type { ContentBlock } from '../contract/base/result.ts'
import type { BudgetSettlement, KeyResolution, Store } from '../contract/store.ts'
import { encodeResult } from '../kit/result/encode-result.ts'

/** What a person found out about a call. */
export interface Finding {
  store: Store
  call: string
  /** Default: the tenant of the call. */
  tenant?: string
  outcome: KeyResolution['outcome']
  /** What the call would have returned, if that is known. */
  result?: Json
  /** Why the person is sure. */
  reason?: string
  actor: string
  /** Milliseconds since the epoch. */
  at: number
}

/** A finding whose result is looked at first. */
export interface CheckedFinding extends Finding {
  /** Why the result cannot be that of the call. Default: it can. */
  findMisfit?: (begin: BeginRecord) => string | undefined
}

/**
 * Takes down what a person found out about a call whose outcome was unknown, in one transaction with what its idempotency key
 * answers from then on: the result if the effect happened, nothing if it did not. Returns why if the call does not exist, its
 * outcome is known, or its result does not fit.
 */
export async function resolveOutcome(
  request: CheckedFinding,
): Promise<{ note: NoteRecord } | { refused: string }> {
  const { store, call, outcome } = request
  const unknown = findUnknown(request)
  if (typeof unknown === 'string') return { refused: unknown }
  const { begin, end } = unknown
  const misfit = request.findMisfit?.(begin)
  if (misfit !== undefined) return { refused: misfit }
  const note = toNote(request, end)
  const result = outcome === 'happened' ? encodeResult(toResult(end, request.result)) : ''
  const settle = outcome === 'happened' ? [] : giveBack(unknown)
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

/** A call whose outcome is not known. */
interface Unknown {
  readonly begin: BeginRecord
  readonly end: EndRecord
  /** That its tool has ended after all, if it was answered before that. */
  readonly ended: NoteRecord | undefined
}

/** What a call spent that did not happen, as far as evidence says so. */
function giveBack({ begin, end, ended }: Unknown): BudgetSettlement[] {
  // It was made from numbers by ids of budgets.
  const late = ended?.data?.['spent'] as EndRecord['spent']
  const spent = late ?? end.spent ?? {}
  const back = (begin.reserved ?? []).map((each) => ({ ...each, units: -(spent[each.budget] ?? 0) }))
  return [{ call: end.call, spent: back }]
}

/** What a person found out about a call; undefined if none did. */
export function findResolution(
  store: Store,
  { tenant, call }: { tenant: string; call: string },
): NoteRecord | undefined {
  return findNote(store, { tenant, call, event: 'outcome_resolved' })
}

function findNote(
  store: Store,
  { tenant, call, event }: Required<Pick<NoteRecord, 'tenant' | 'call' | 'event'>>,
): NoteRecord | undefined {
  for (const { text } of store.records({ tenant, call, kind: 'note' })) {
    // The store returns the text that was made from a note.
    const note = readRecord(text, 'note')
    if (note.event === event) return note
  }
  return undefined
}

/** The call, or why it cannot be resolved. */
function findUnknown({ store, call, tenant }: Finding): Unknown | string {
  const [found] = store.records({ call, kind: 'begin', ...(tenant !== undefined && { tenant }) })
  if (found === undefined)
    return `There is no call "${call}". "handrail evidence list" shows those there are.`
  // The store returns the text that was made from a begin.
  const begin = readRecord(found.text, 'begin')
  const end = readEnd(store, found)
  if (end === undefined) return `The call "${call}" is still running.`
  if (end.outcome !== 'unknown')
    return `The outcome of the call "${call}" is known: ${end.outcome}. Only an unknown one can be resolved.`
  const earlier = findResolution(store, end)
  if (earlier !== undefined)
    return `The call "${call}" was resolved before, by ${earlier.actor ?? 'an unnamed actor'} at ${new Date(earlier.at).toISOString()}.`
  const ended = findNote(store, { tenant: end.tenant, call, event: 'tool_ended' })
  return end.outlived === true && ended === undefined && store.lives(begin.writer)
    ? `The tool of the call "${call}" did not stop when it was told to, and may still be running in a process that lives. Wait for the note "tool_ended" of the call ("handrail evidence list --notes"), or end that process; then say what you found.`
    : { begin, end, ended }
}

function readEnd(store: Store, { tenant, call }: StoredRecord): EndRecord | undefined {
  // The store returns the text that was made from an end.
  for (const { text } of store.records({ tenant, call, kind: 'end' })) return readRecord(text, 'end')
  return undefined
}

function toNote(request: Finding, end: EndRecord): NoteRecord {
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
): Parameters<typeof encodeResult>[0] {
  const withheld = 'A person found out that this call did what it should. What it returned is not known.'
  const content: ContentBlock[] =
    data === undefined
      ? [{ type: 'text', text: withheld }]
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
    metadata: { session, durationMs: 0, ...(data === undefined && { withheld }) },
  }
}
