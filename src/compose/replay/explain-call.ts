import { readRecord } from '../../kit/result/read-record.ts'
import { readConsent } from '../../runtime/permission/consents.ts'
import type { Consent } from '../../contract/consent.ts'
import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Preflight } from '../../contract/runtime.ts'
import type { Store } from '../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import {
  compareDecisions,
  compareFinds,
  findChangedBodies,
  findRedefinition,
  type Difference,
} from './compare-calls.ts'
import { findDecisionObstacle, leftOutOfSet } from './find-obstacle.ts'
import { openReplayer, type Replayer } from './open-replayer.ts'

/** Which call to explain, and by which policy it is decided once more. */
export interface ExplainRequest {
  /** Where the call was recorded. It is only read. */
  store: Pick<Store, 'records' | 'facts'>
  /** Id of the call. */
  call: string
  /** Whose call. Default: any tenant's. */
  tenant?: string
  /** As in `replayRun`. */
  runtime: RuntimeOptions
}

/** Why a call was decided as it was, and whether it would be now. */
export interface CallExplanation {
  /** Its records: who called what, which layer and rule decided, under which policy, definition and profile. */
  readonly begin: BeginRecord
  /** Undefined for a call that has not ended. */
  readonly end: EndRecord | undefined
  /** What the caller was told where it failed. Undefined if it did not, or where its result was pruned. */
  readonly message: string | undefined
  /** Secrets redacted. Undefined if it was not kept or was pruned. */
  readonly input: JsonObject | undefined
  /** What the call would have reached. */
  readonly operations: readonly Operation[]
  /** Which version of the policy decided, counted by the process that put it in force; undefined if no change of it was recorded. */
  readonly policyVersion: number | undefined
  /** The standing consent that answered for the person. */
  readonly consent: Consent | undefined
  /** The call whose approval for the session answered for the person. */
  readonly grantedBy: BeginRecord | undefined
  /** Deciding it once more, by the policy in force now, with the consents that stood then; or why that cannot be done. */
  readonly now: { readonly preflight: Preflight } | { readonly obstacle: string }
  /** What differs now, in the order of the steps. Empty if the same would be decided, as far as that can be told. */
  readonly differences: readonly Difference[]
}

/**
 * Explains a recorded call from its evidence, and decides it once more without touching anything: nothing runs, no person is asked, nothing
 * is written. Undefined if the call does not exist. Throws a SetupError if the options make no runtime.
 *
 * @example
 * const found = await explainCall({ store: runtime.store, call: result.callId, runtime: options })
 * console.log(found?.begin.decision, found?.differences)
 */
export async function explainCall(request: ExplainRequest): Promise<CallExplanation | undefined> {
  const { store, tenant } = request
  const [call] = readCalls(store.records({ call: request.call, ...(tenant !== undefined && { tenant }) }))
  if (call === undefined) return undefined
  const { begin, end, input, operations, result } = call
  const granting = findGranting(call, store)
  return {
    begin,
    end,
    message: result?.error?.message,
    input,
    operations,
    policyVersion: findPolicyVersion(begin.policy, store),
    consent: findConsent(call, store),
    grantedBy: granting?.begin,
    ...(await decideAgain(call, granting, request)),
  }
}

type Again = Pick<CallExplanation, 'now' | 'differences'>

async function decideAgain(
  call: RecordedCall,
  granting: RecordedCall | undefined,
  { store, runtime: options }: ExplainRequest,
): Promise<Again> {
  const { begin } = call
  const changed = findChangedBodies(call).filter(({ what }) => what !== 'result')
  const replayer = await openReplayer({ call, store, options })
  if ('refused' in replayer) return { now: { obstacle: replayer.refused.message }, differences: changed }
  try {
    const registered = replayer.runtime.registry.view(begin.tenant).find(begin.tool)
    const redefined = [...changed, ...findRedefinition(call, registered)]
    const obstacle =
      registered === undefined && begin.definition !== ''
        ? `there is no tool "${begin.tool}" here`
        : findExplainObstacle(call, granting)
    if (obstacle !== undefined) return { now: { obstacle }, differences: redefined }
    return await preflightAgain(call, { granting, replayer, redefined })
  } finally {
    await replayer.close()
  }
}

async function preflightAgain(
  call: RecordedCall,
  about: { granting: RecordedCall | undefined; replayer: Replayer; redefined: readonly Difference[] },
): Promise<Again> {
  const { granting, replayer, redefined } = about
  if (granting !== undefined) await replayer.play(granting)
  const preflight = await replayer.preflight(call)
  if (call.begin.definition === '' && preflight.steps[0]?.outcome === 'passed')
    return findsToolNow(call, redefined)
  const input = replayer.runtime.store.digest(call.inputText ?? '')
  return { now: { preflight }, differences: [...redefined, ...compareDecisions(call, preflight, input)] }
}

/** Of a call that found no tool, the input is not kept. */
function findsToolNow(call: RecordedCall, redefined: readonly Difference[]): Again {
  if (leftOutOfSet(call)) {
    const obstacle = 'whether its session itself left its tool out is not in the evidence'
    return { now: { obstacle }, differences: redefined }
  }
  return {
    now: { obstacle: 'its tool can be used now, and what it was called with is not in the evidence' },
    differences: redefined.length > 0 ? redefined : compareFinds(call),
  }
}

/** Counts and keys are no rules: whether they would answer the same is not to be told from one call. */
function findExplainObstacle(call: RecordedCall, granting: RecordedCall | undefined): string | undefined {
  const { begin, end, result } = call
  if (end?.code?.startsWith('QUOTA.') === true)
    return `no rule decided: it was refused for the number of calls or a budget (${end.reason ?? ''})`
  // A call that was cut off has the code of keys too, and was decided before it began.
  const isOfKey = result?.metadata.replayed === true || end?.code?.startsWith('IDEMPOTENCY.') === true
  if (isOfKey && begin.decision === undefined)
    return 'no rule decided: it was answered for an earlier call with the same key'
  if (begin.decision?.layer === 'session-approval' && granting === undefined)
    return `the call ${begin.consent ?? ''}, whose yes for the session let it through, is not in the evidence`
  return findDecisionObstacle(call)
}

function findGranting({ begin }: RecordedCall, store: ExplainRequest['store']): RecordedCall | undefined {
  if (begin.decision?.layer !== 'session-approval' || begin.consent === undefined) return undefined
  return readCalls(store.records({ tenant: begin.tenant, call: begin.consent }))[0]
}

function findConsent({ begin }: RecordedCall, store: ExplainRequest['store']): Consent | undefined {
  if (begin.decision?.layer !== 'consent') return undefined
  const fact = store.facts('consent', begin.tenant).find(({ id }) => id === begin.consent)
  return fact && readConsent(fact)
}

function findPolicyVersion(policy: string, store: ExplainRequest['store']): number | undefined {
  for (const { text } of store.records({ kind: 'note', event: 'policy_changed' })) {
    // Cheap for the notes that tell of something else.
    if (!text.includes('policy_changed') || !text.includes(policy)) continue
    const { event, data } = readRecord(text, 'note')
    if (event === 'policy_changed' && data?.['policy'] === policy) return Number(data['version'])
  }
  return undefined
}
