import type { CallError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { ObservedEnd } from '../../contract/observed.ts'
import { digest } from '../../kit/json/digest.ts'
import { callError } from '../../kit/result/call-error.ts'
import { encodeResult } from '../../kit/result/encode-result.ts'
import { plainSummary } from '../../kit/result/plain-summary.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import { toOutcome } from '../../kit/result/to-outcome.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { toEnd } from '../record/end-record.ts'
import { redactorOf } from '../record/treatments.ts'
import type { CallScope } from '../state/scope.ts'
import { isObserved } from './observe.ts'

interface Open {
  readonly begin: BeginRecord
  readonly body: string | null
}

/** Ends the last open call of the session that has this id. Returns Handrail's id of it. */
export async function endObserved(
  id: string,
  end: ObservedEnd,
  scope: CallScope,
): Promise<string | undefined> {
  for (const open of findOpen(scope)) {
    if ((open.begin.toolCallId ?? open.begin.call) !== id) continue
    return (await close(open, toOutput(open.begin, end, scope), scope)) ? open.begin.call : undefined
  }
  return undefined
}

/** Ends all that are open in the session, as the agent says nothing more of them. Returns their number. */
export async function endAllObserved(scope: CallScope): Promise<number> {
  let ended = 0
  for (const open of Array.from(findOpen(scope))) {
    const agent = open.begin.observed?.agent ?? 'the agent'
    const error = callError('IDEMPOTENCY.OUTCOME_UNKNOWN', 'not_told', {
      message: `${agent} never said how its call of "${open.begin.tool}" ended: its person may have said no, or it ran.`,
    })
    if (await close(open, { error }, scope)) ended++
  }
  return ended
}

/** The newest first. */
function* findOpen({ tenant: { store }, session }: CallScope): Generator<Open> {
  const { tenant } = session.principal
  for (const { text, body } of store.records({
    tenant,
    session: session.id,
    kind: 'begin',
    newestFirst: true,
  })) {
    const begin = readRecord(text, 'begin')
    if (!isObserved(begin)) continue
    const [ended] = store.records({ tenant, call: begin.call, kind: 'end', limit: 1 })
    if (ended === undefined) yield { begin, body }
  }
}

type Told = Partial<Pick<ToolResult, 'content' | 'data' | 'error'>>

function toOutput(begin: BeginRecord, end: ObservedEnd, scope: CallScope): Told {
  if (end.outcome === 'aborted') {
    const message = `"${begin.tool}" was not run by the agent.`
    return { error: callError('TOOL.ABORTED', 'run_cancelled', { message }) }
  }
  const text = shownText(begin, end.response, scope)
  const data = { response: { digest: digest(text), bytes: Buffer.byteLength(text) } }
  const content: ToolResult['content'] = [
    { type: 'text', text: shorten(text, scope.tenant.limits.inlineBytes) },
  ]
  if (end.outcome === 'ok') return { content, data }
  const error: CallError = callError('TOOL.FAILED', 'failed', {
    message: `"${begin.tool}" failed in the agent: ${shorten(text, 500)}`,
  })
  return { content, data, error }
}

/** What evidence may keep of a response. */
function shownText(begin: BeginRecord, response: Json, scope: CallScope): string {
  const redactor = redactorOf(scope.session.find(begin.tool, 'canonical'), scope)
  return redactor.text(typeof response === 'string' ? response : JSON.stringify(response))
}

/** Whether it was this one that ended the call, and no other process. */
async function close({ begin, body: input }: Open, told: Told, scope: CallScope): Promise<boolean> {
  const { evidence } = scope.tenant
  const at = scope.tenant.now()
  const { error } = told
  const result: ToolResult = {
    callId: begin.call,
    toolCallId: begin.toolCallId ?? begin.call,
    tool: begin.tool,
    ok: error === undefined,
    outcome: toOutcome(error),
    content: [],
    summary: plainSummary(begin.tool, error),
    artifacts: [],
    metadata: { session: begin.session, durationMs: Math.max(0, at - begin.at) },
    ...told,
  }
  const body = encodeResult(result)
  const bytesIn = Buffer.byteLength(input ?? '')
  const about = { scope, now: at, bytesIn, outlived: false, spent: undefined, approval: undefined }
  try {
    await evidence.endObserved({ record: begin, body: input }, toEnd(result, body, about), result)
    return true
  } catch (cause) {
    const [ended] = scope.tenant.store.records({
      tenant: begin.tenant,
      call: begin.call,
      kind: 'end',
      limit: 1,
    })
    if (ended === undefined) throw cause
    return false
  }
}
