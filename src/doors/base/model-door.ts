import type { Issue } from '../../contract/base/json.ts'
import type { Presentation } from '../../contract/base/call.ts'
import type { StepResult, WaitingCall } from '../../contract/pending-approval.ts'

/** What every door to a model takes. Unknown options are refused. */
export interface DoorOptions {
  /** The name of the model, for what only some models take. Default: what all models of the API take. */
  model?: string
  /** `compatible` shows tools under the names that models know, such as `Read`. Default `canonical`. */
  presentation?: Presentation
  /**
   * What happens with a tool that the provider does not take, and that cannot be said in another way: `throw` a SetupError before any request, or
   * `leave-out` the tool and list it in `leftOut`. Default `throw`.
   */
  onUnfit?: 'throw' | 'leave-out'
}

/** For providers that load tools which a search found. */
export interface DeferLoadingOptions {
  /**
   * The provider itself loads the tools that `tools.search` finds, so that what it has cached stays in use. For models that can do that. Default false:
   * they stand behind the other tools.
   */
  deferLoading?: boolean
}

/** For providers that hold a model to the schema of its calls. */
export interface StrictOptions {
  /**
   * Sends tools as strict, in the form that asks for: the model cannot make a call whose input does not fit. `if-possible` sends those that cannot
   * be said in that form as they are; with `true` they are unfit. Default false.
   */
  strict?: boolean | 'if-possible'
}

/** A tool that a provider does not take. */
export interface LeftOutTool {
  /** Canonical name. */
  readonly tool: string
  /** What the provider does not take, each with its JSON pointer into the input schema. */
  readonly issues: readonly Issue[]
}

/** One call of an answer, as its result has to name it. */
export interface DoorCall {
  /** As the provider gave it; absent if it gave none. */
  readonly id?: string | number
  /** The name on the wire. */
  readonly name: string
  /** The answer ended before the call did, so it did not run. */
  readonly cut?: true
  /** What the provider wants back with the result. */
  readonly echo?: { readonly [field: string]: unknown }
}

/** The calls of one answer, and what has become of them. Plain JSON: it can be kept, and gone on with in another process. */
export interface DoorStep {
  readonly calls: readonly DoorCall[]
  readonly taken: StepResult
}

/** What has become of the calls of one answer. */
export interface DoorResults<Reply> {
  /**
   * What is to be appended to the conversation after the answer, in the form of the API: a result for each call, in call order. Empty if the answer
   * made no call, and as long as a call waits.
   */
  readonly messages: Reply[]
  /** The calls that wait for a person. If there are any, hand `step` to `resume` when they were answered. */
  readonly waiting: readonly WaitingCall[]
  readonly step: DoorStep
}

/**
 * The tools of a session for one API of a model, and the way back: its answers in, results out. It needs no SDK and makes no request.
 */
export interface ModelDoor<Definition, Message, Reply> {
  /**
   * The tools of the session as they are now, in the form of the API and in stable order: a fresh copy at each read, to change as one likes. Throws a
   * SetupError (`unfit_tool`) if the provider does not take one of them, as making the door does.
   */
  readonly tools: Definition[]
  /** The tools that are left out, with `onUnfit: 'leave-out'`. */
  readonly leftOut: readonly LeftOutTool[]
  /**
   * Runs the calls of an answer as one step of the session and returns their results. A call that is cut off, malformed or unknown has a result that
   * says so to the model. Throws a TypeError for anything but an answer of this API. Never waits for a person.
   */
  results(message: Message, options?: { signal?: AbortSignal }): Promise<DoorResults<Reply>>
  /** Goes on with calls that waited, in any process with a session of the same principal: calls that were answered run, once, or are denied. */
  resume(step: DoorStep, options?: { signal?: AbortSignal }): Promise<DoorResults<Reply>>
  /**
   * The answer that a stream of the API's events makes: of events as an SDK hands them out, or of the body of an HTTP response (server-sent events).
   * Throws if the stream reports an error. A stream that breaks off makes an answer whose last call is cut off.
   */
  collect(stream: AsyncIterable<unknown>): Promise<Message>
  /**
   * What the provider would refuse of a request to this API, by the table of what providers take: names, counts and schemas of its tools, and ids and
   * order of its messages, also those that other programs made. Empty if nothing is known against it. Each has a JSON pointer into the request.
   */
  check(request: object): readonly Issue[]
}
