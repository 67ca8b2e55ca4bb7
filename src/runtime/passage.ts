import type { ApprovalBinding } from '../contract/approval.ts'
import type { Call } from '../contract/call.ts'
import type { CallError } from '../contract/errors.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Plan, Preview } from '../contract/plan.ts'
import type { Profile } from '../contract/profile.ts'
import type { Decision } from '../contract/policy.ts'
import type { Registered } from '../contract/registry.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolResult } from '../contract/result.ts'
import type { Repair } from '../contract/schema.ts'
import type { Allowance, HeldBudget } from './budgets.ts'
import type { TurnPlace } from './open-reads.ts'
import type { Slot } from './slots.ts'

declare const passed: unique symbol

/**
 * Mark of a step that a call has passed. Only this folder can make one, each step asks for the mark of the step before,
 * so a call that skipped a step does not compile.
 */
export type Passed<Step extends string> = { readonly [passed]: { readonly [step in Step]: true } }

/** A call at the start of the road. */
export type Called = {
  readonly call: Call
  readonly signal: AbortSignal | undefined
  /** Undefined for a call that no other one of its turn runs beside, and for one of no turn. */
  readonly place: TurnPlace | undefined
}

export type Found = Called & Passed<'find'> & { readonly registered: Registered; readonly asked: unknown }

export type CheckedInput = Found &
  Passed<'check-input'> & {
    readonly input: JsonObject
    /** What `plan` and `run` take. */
    readonly decoded: unknown
    readonly repairs: readonly Repair[]
    /** Canonical JSON of the input as evidence may keep it: secrets redacted, and what the policy obliges to hide. */
    readonly inputText: string
    readonly textDigest: string
    /** What makes two inputs the same; of everything but secrets. */
    readonly inputDigest: string
    readonly bytesIn: number
  }

export type Authorised = CheckedInput & Passed<'authorise'> & { readonly profile: Profile }

export type Planned = Authorised &
  Passed<'plan'> & {
    readonly plan: Plan
    readonly decision: Decision
    /** What a yes for the session would cover. */
    readonly grantKey: string
    /** The standing consent, or the call whose approval for the session, that answered for the person. */
    readonly consent: string | undefined
    readonly preview: Preview | undefined
  }

export type Hooked = Planned & Passed<'hook'> & { readonly hookNotes: readonly string[] }

/** A person's yes, and what it is bound to. */
export type GivenApproval = {
  readonly decision: 'allow_once' | 'allow_for_session'
  readonly reason: string | undefined
  readonly binding: ApprovalBinding
  readonly expiresAt: number
}

export type Approved = Hooked & Passed<'approve'> & { readonly approval: GivenApproval | undefined }

export type Admitted = Approved &
  Passed<'admit'> & {
    readonly startedAt: number
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
}

/** A keyed call that was done before: its kept result. */
export type Replayed = { readonly replayed: ToolResult; readonly state: Authorised }

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
export function startPassage(call: Call, signal?: AbortSignal, place?: TurnPlace): Called {
  const state: { [field in keyof Omit<CheckedOutput, keyof Called | typeof passed>]: undefined } & Called = {
    call,
    signal,
    place,
    registered: undefined,
    asked: undefined,
    input: undefined,
    decoded: undefined,
    repairs: undefined,
    inputText: undefined,
    textDigest: undefined,
    inputDigest: undefined,
    bytesIn: undefined,
    profile: undefined,
    plan: undefined,
    decision: undefined,
    grantKey: undefined,
    consent: undefined,
    preview: undefined,
    hookNotes: undefined,
    approval: undefined,
    startedAt: undefined,
    budget: undefined,
    allowance: undefined,
    slot: undefined,
    returned: undefined,
    aborted: undefined,
    output: undefined,
  }
  return state
}

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
