import type { ApprovalBinding } from '../contract/approval.ts'
import type { Call } from '../contract/call.ts'
import type { CallError } from '../contract/errors.ts'
import type { BeginRecord } from '../contract/evidence.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Plan, Preview } from '../contract/plan.ts'
import type { Profile } from '../contract/profile.ts'
import type { Decision } from '../contract/policy.ts'
import type { Registered } from '../contract/registry.ts'
import type { Artifact, ContentBlock, PersonAnswer, ResultMetadata, ToolResult } from '../contract/result.ts'
import type { Repair } from '../contract/schema.ts'
import type { Allowance, HeldBudget } from './budgets.ts'
import type { Repeat } from './family.ts'
import type { TurnPlace } from './open-reads.ts'
import type { Refused } from './running-calls.ts'
import type { Slot } from './slots.ts'

declare const passed: unique symbol

/**
 * Mark of a step that a call has passed. Only this folder can make one, each step asks for the mark of the step before,
 * so a call that skipped a step does not compile.
 */
export type Passed<Step extends string> = { readonly [passed]: { readonly [step in Step]: true } }

/** A call at the start of the road. */
export type Called = {
  /** What the person answered who was asked. */
  answer: PersonAnswer | undefined
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
}

export type Found = Called & Passed<'find'> & { readonly registered: Registered; readonly asked: unknown }

export type CheckedInput = Found &
  Passed<'check-input'> & {
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

export type Authorised = CheckedInput &
  Passed<'authorise'> & {
    readonly profile: Profile
    /** Looked up once the call is authorised; undefined where it runs itself. */
    readonly kept: KeptCall | undefined
  }

/** An earlier call with the same key, whose result this one gets where it may have it. */
export interface KeptCall {
  readonly begin: BeginRecord
  /** What it reached, and the scope that its plan named. */
  readonly plan: Plan
  /** What it reached is known in part only: the rest were secrets. */
  readonly hidden: boolean
  /** Its result, as its end keeps it. */
  readonly result: string
}

export type Planned = Authorised &
  Passed<'plan'> & {
    readonly plan: Plan
    readonly decision: Decision
    /** The standing consent, or the call whose approval, that answered for the person. */
    readonly consent: string | undefined
    readonly preview: Preview | undefined
  }

export type Hooked = Planned & Passed<'hook'> & { readonly hookNotes: readonly string[] }

/** A person's yes, and what it is bound to. */
export type GivenApproval = {
  readonly decision: 'allow_once' | 'allow_for_session'
  readonly binding: ApprovalBinding
  readonly expiresAt: number
}

export type Approved = Hooked & Passed<'approve'> & { readonly approval: GivenApproval | undefined }

export type Admitted = Approved &
  Passed<'admit'> & {
    readonly startedAt: number
    /** The same by a monotonic clock. */
    readonly startTick: number
    /** What the call took from its budgets. */
    readonly budget: HeldBudget | undefined
    /** What is left of the profile's time and size after that. */
    readonly allowance: Allowance
    /** Freed when the tool has really ended, which may be after the call was answered. */
    readonly slot: Slot
  }

/** What a tool gave back, before it is checked. */
export type Ran = Admitted &
  Passed<'run'> & { readonly returned: unknown; readonly aborted: AbortedRun | undefined }

/** A tool that ended because it was told to, and what it managed to give. */
export type AbortedRun = { readonly error: CallError; readonly reason: string }

export type CheckedOutput = Ran & Passed<'check-output'> & { readonly output: Output }

/** Everything of a result that comes from the tool, within its bounds and free of secrets. */
export type Output = {
  readonly content: readonly ContentBlock[]
  readonly data: Json | undefined
  readonly summary: string
  readonly artifacts: readonly Artifact[]
  readonly error: CallError | undefined
  readonly metadata: Partial<ResultMetadata>
}

/** A call that ends here: the error, and everything known about it so far. */
export type Stopped = {
  readonly stopped: CallError
  readonly at: StepName
  readonly state: Called & Partial<Omit<Admitted, keyof Called | typeof passed>>
  /** Content that goes back beside the error, such as the partial output of an aborted run. */
  readonly output?: Partial<Output>
  /** Resolves when a tool that outlived its answer has ended after all; until then it holds what it took. */
  readonly outlived?: Promise<void>
  /** The begin record is written already. */
  readonly begun: boolean
  /** It has begun, and its tool was not started. */
  readonly idle?: boolean
}

/** A call that gets the kept result of an earlier one. */
export type Replayed = { readonly replayed: ToolResult; readonly state: Approved }

/** Said of a call that waited for another one with its key: it starts anew, by what is in force now. */
export const again = Symbol('again')

/** A call that goes no further. */
export type Ended = CheckedOutput | Stopped | Replayed

/** Everything that is known of a call that ended. */
export function stateOf(ended: Ended): Stopped['state'] {
  return 'state' in ended ? ended.state : ended
}

export type StepName =
  | 'find'
  | 'check-input'
  | 'authorise'
  | 'plan'
  | 'hook'
  | 'approve'
  | 'admit'
  | 'run'
  | 'check-output'

/**
 * A call at the start of the road. Every field that a step will fill in is there from the start, so that all calls
 * have one shape, which engines handle fastest.
 */
export function startPassage(call: Call, tick: number, within?: Within): Called {
  const state: { [field in keyof Omit<CheckedOutput, keyof Called | typeof passed>]: undefined } & Called = {
    call,
    tick,
    signal: within?.signal,
    place: within?.place,
    refused: within?.refused,
    waitedMs: within?.waitedMs ?? 0,
    answer: undefined,
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

type Within = Pick<Called, 'signal' | 'place'> & Partial<Pick<Called, 'waitedMs' | 'refused'>>

/** Lets a call pass: adds what the step found out, and its mark. The one place where marks are made. */
export function pass<Next>(state: object, found: object): Next {
  return Object.assign(state, found) as Next
}

export function stop(at: StepName, state: Stopped['state'], error: CallError): Stopped {
  return { stopped: error, at, state, begun: false }
}

export function isStopped(state: object): state is Stopped {
  return 'stopped' in state
}
