import type { ApprovalBinding } from '../../contract/approval.ts'
import type { Call } from '../../contract/base/call.ts'
import type { Counterpart } from '../../contract/base/counterpart.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { Plan, Preview } from '../../contract/tool/plan.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Decision } from '../../contract/policy.ts'
import type { Registered } from '../../contract/registry.ts'
import type {
  Artifact,
  ContentBlock,
  PersonAnswer,
  ResultMetadata,
  ToolResult,
} from '../../contract/base/result.ts'
import type { FactChange } from '../../contract/store.ts'
import type { Repair } from '../../contract/base/schema.ts'
import type { Returns } from './approval-book.ts'
import type { Allowance, HeldBudget } from './budget-state.ts'
import type { Repeat } from './family.ts'
import type { TurnPlace } from './turn-place.ts'
import type { PartOf } from './part-of.ts'
import type { Refused } from './running-calls.ts'
import type { Slot } from './slots.ts'

declare const passed: unique symbol

/**
 * Mark of the steps that a call has passed, for the compiler alone: each step takes a call with the mark of the step before, so a call that
 * skipped a step does not compile. Only `advance` adds a mark.
 */
type Passed<Step extends StepName> = { readonly [passed]: { readonly [step in Step]: true } }

/** The steps of a call, in order: what each takes, and what it adds to the call. Every end, wherever it happens, is recorded after that. */
export interface Steps {
  find: { takes: Called; adds: { readonly registered: Registered; readonly asked: unknown } }
  'check-input': { takes: Found; adds: InputFields }
  authorise: { takes: CheckedInput; adds: { readonly profile: Profile } }
  /** `kept` is undefined if the call runs itself. */
  recall: { takes: Authorised; adds: { readonly kept: KeptCall | undefined } }
  plan: { takes: Recalled; adds: PlanFields }
  hook: { takes: Planned; adds: { readonly hookNotes: readonly string[] } }
  /** The plan is the one that was approved: it was made again after the person answered. */
  approve: {
    takes: Hooked
    adds: ApprovalFields & Pick<PlanFields, 'plan' | 'consent'>
  }
  admit: { takes: Approved; adds: AdmitFields }
  run: { takes: Admitted; adds: { readonly returned: unknown; readonly aborted: AbortedRun | undefined } }
  'check-output': { takes: Ran; adds: { readonly output: Output } }
}

export type StepName = keyof Steps

/** A call that has passed a step, and every step before it. */
export type After<Step extends StepName> = Steps[Step]['takes'] & Passed<Step> & Steps[Step]['adds']

export type Found = After<'find'>
export type CheckedInput = After<'check-input'>
export type Authorised = After<'authorise'>
export type Recalled = After<'recall'>
export type Planned = After<'plan'>
export type Hooked = After<'hook'>
export type Approved = After<'approve'>
export type Admitted = After<'admit'>
export type Ran = After<'run'>
export type CheckedOutput = After<'check-output'>

/** What a call says of its caller: whom it asks, whether it waits for them, and who follows it. */
export type CallerOptions = {
  readonly [option in 'approve' | 'elicit' | 'onProgress' | 'caller']: CallRequest[option]
} & {
  /** Whether the call does not wait for a person: what it asks is kept, and it comes back once that is answered, and how. */
  readonly parks: false | Exclude<Returns, 'held'>
  /** Of a call that comes back: the id of the pending approval that it waited for. */
  readonly answers: string | undefined
  /** Of a call that comes back as one of its own calls waited: the id that it had then. */
  readonly goesOn?: string | undefined
  /** Undefined for a call that a caller made. */
  readonly partOf?: PartOf | undefined
}

/** A call before its first step. */
export type Called = CallerOptions & {
  /** What the person answered who was asked. */
  answer: PersonAnswer | undefined
  /** Digest of what they saw, if they were asked about what the call did: keyed, as evidence has it. */
  reviewed: string | undefined
  readonly call: Call
  /** When it was taken up, by a monotonic clock. */
  readonly tick: number
  readonly signal: AbortSignal | undefined
  /** Undefined for a call that no other one of its turn runs beside, and for one of no turn. */
  readonly place: TurnPlace | undefined
  /** What a person said no to: in answer to this call, or to one with its key for which it waited. */
  refused: Refused | undefined
  /** Milliseconds that people took to answer, of its run or, before that, of its way there. They are no part of its duration. */
  waitedMs: number
  /** The record of the call at the domain that does it, as soon as its tool knows that. */
  counterpart: Counterpart | undefined
}

type InputFields = {
  readonly input: JsonObject
  /** What `plan` and `run` take. */
  readonly decoded: unknown
  readonly repairs: readonly Repair[]
  /** Canonical JSON of the input, secrets and all. It leaves the call in no other form than its keyed digest. */
  readonly saidText: string
  /** What names the input, once that was asked for: see `saidDigest`. */
  saidDigest: string | undefined
  /** The text as evidence may keep it: secrets redacted, and what the policy obliges to hide. */
  readonly shownText: string
  readonly shownDigest: string
  readonly bytesIn: number
  readonly key: CallKey | undefined
  /** The calls like this one, once it is counted among them. */
  repeat: Repeat | undefined
}

/** What stands for the idempotency key of a call: a keyed digest, of this actor alone. The key itself goes no further. */
export interface CallKey {
  readonly name: string
}

/** An earlier call with the same key, whose result this one gets if it may have it. */
export interface KeptCall {
  readonly begin: BeginRecord
  /** What it reached, and the scope that its plan named. */
  readonly plan: Plan
  /** What it reached is known in part only: the rest were secrets. */
  readonly hidden: boolean
  /** Its result, as its end keeps it. */
  readonly result: string
}

type PlanFields = {
  readonly plan: Plan
  readonly decision: Decision
  /** The standing consent, or the call whose approval, that answered for the person. */
  readonly consent: string | undefined
  readonly preview: Preview | undefined
}

type ApprovalFields = {
  readonly approval: GivenApproval | undefined
  /** Whether the person is asked once the call has run: all that it does is held back until then. */
  readonly deferred: boolean
  /** What uses up the answer of a person that is kept in the store. */
  readonly use: FactChange | undefined
}

/** A person's yes, and what it is bound to. */
export type GivenApproval = {
  readonly decision: 'allow_once' | 'allow_for_session'
  readonly binding: ApprovalBinding
  readonly expiresAt: number
}

type AdmitFields = {
  readonly startedAt: number
  /** The same by a monotonic clock. */
  readonly startTick: number
  /** Of its run, from here on. */
  waitedMs: number
  /** What the call took from its budgets. */
  readonly budget: HeldBudget | undefined
  /** What is left of the profile's time and size after that. */
  readonly allowance: Allowance
  /** Freed when the tool has really ended, which may be after the call was answered. */
  readonly slot: Slot
}

/** A tool that ended because it was told to, and what it managed to give. */
export type AbortedRun = {
  readonly error: CallError
  readonly reason: string
  /** Why a person wanted it. */
  readonly said?: string | undefined
}

/** Everything of a result that comes from the tool, within its bounds and free of secrets. */
export type Output = {
  readonly content: readonly ContentBlock[]
  readonly data: Json | undefined
  /** Its JSON text, if that is known. */
  readonly dataText?: string
  readonly summary: string
  readonly artifacts: readonly Artifact[]
  readonly error: CallError | undefined
  readonly metadata: Partial<ResultMetadata>
}

/** A call that ends here: the error, and everything known about it so far. */
export type Halted = {
  readonly halted: CallError
  readonly at: StepName
  readonly state: Called & Partial<Omit<Admitted, keyof Called | typeof passed>>
  /** Content that goes back beside the error, such as the partial output of an aborted run. */
  readonly output?: Partial<Output>
  /** Resolves when a tool that outlived its answer has ended after all; until then it holds what it took. */
  readonly outlived?: Promise<void>
  /** What uses up an answer of a person that is kept in the store, with its record. */
  readonly use?: FactChange | undefined
  /** The begin record is written already. */
  readonly begun: boolean
  /** It has begun, and its tool was not started. */
  readonly idle?: boolean
}

/** A call that gets the kept result of an earlier one. */
export type Replayed = { readonly replayed: ToolResult; readonly state: Approved }

/** A call that waits for a person, and comes back once they answered. */
export type Parked = { readonly parked: PendingApproval; readonly error: CallError; readonly state: Hooked }

/** Said of a call that waited for another one with its key: it starts anew, by what is in force now. */
export const again = Symbol('again')

/** A call that goes no further. */
export type Ended = CheckedOutput | Halted | Replayed

/** Everything that is known of a call that ended. */
export function stateOf(ended: Ended): Halted['state'] {
  return 'state' in ended ? ended.state : ended
}

/**
 * A call at the start of the pipeline. Every field that a step will fill in is there from the start, so that all calls
 * have one shape, which engines handle fastest.
 */
export function startCall(call: Call, tick: number, within?: Within): Called {
  const state: { [field in keyof Omit<CheckedOutput, keyof Called | typeof passed>]: undefined } & Called = {
    call,
    tick,
    signal: within?.signal,
    place: within?.place,
    refused: within?.refused,
    waitedMs: within?.waitedMs ?? 0,
    counterpart: undefined,
    approve: within?.approve,
    elicit: within?.elicit,
    onProgress: within?.onProgress,
    caller: within?.caller,
    parks: within?.parks ?? false,
    answers: within?.answers,
    goesOn: within?.goesOn,
    partOf: within?.partOf,
    answer: undefined,
    reviewed: undefined,
    registered: undefined,
    asked: undefined,
    input: undefined,
    decoded: undefined,
    repairs: undefined,
    saidText: undefined,
    saidDigest: undefined,
    shownText: undefined,
    shownDigest: undefined,
    bytesIn: undefined,
    key: undefined,
    repeat: undefined,
    profile: undefined,
    kept: undefined,
    plan: undefined,
    decision: undefined,
    consent: undefined,
    preview: undefined,
    hookNotes: undefined,
    approval: undefined,
    deferred: undefined,
    use: undefined,
    startedAt: undefined,
    startTick: undefined,
    budget: undefined,
    allowance: undefined,
    slot: undefined,
    returned: undefined,
    aborted: undefined,
    output: undefined,
  }
  return state
}

type Within = Pick<Called, 'signal' | 'place'> & CallerOptions & Partial<Pick<Called, 'waitedMs' | 'refused'>>

/** Takes a call back to its start, with nothing known of it but how long people took, and their no. */
export function restart(called: Called): Called {
  return Object.assign(called, startCall(called.call, called.tick, called))
}

export function halt(at: StepName, state: Halted['state'], error: CallError): Halted {
  return { halted: error, at, state, begun: false }
}

/** Whether an input that fits its tool is known of a call. */
export function isChecked(state: Halted['state']): state is Halted['state'] & CheckedInput {
  return state.shownText !== undefined
}

/** Whether a call has a plan, and a decision about it. */
export function isPlanned(state: Halted['state']): state is Halted['state'] & Planned {
  return state.decision !== undefined
}

export function isHalted(state: object): state is Halted {
  return 'halted' in state
}
