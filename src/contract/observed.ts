import type { CallError } from './base/errors.ts'
import type { Json } from './base/json.ts'
import type { Presentation } from './base/call.ts'
import type { Decision } from './policy.ts'

/** An agent that runs its own tools: Handrail decides about its calls and records them, and does not run them. */
export interface ObservedAgent {
  /** Such as `claude-code`: at most 64 letters, digits, `.`, `_` and `-`. */
  agent: string
  /** The agent's own id of its session, of 1 to 256 characters. With the same id, in whatever process, evidence shows one session. */
  session: string
}

/** What is known of a call that the agent is about to make. */
export interface ObserveOptions {
  /** Names the call, so that its end finds it: the agent's own id of the call, or what stands for it. */
  id: string
  /** The name of the tool in the agent. */
  name: string
  /** Default `canonical`. */
  presentation?: Presentation
  /** Whether the agent asks its own person if the policy wants one asked. If not, such a call is denied. Default false. */
  asks?: boolean
  /**
   * Whether the question is kept in the store then: until it is answered the call is denied (`POLICY.APPROVAL_PENDING`), and after a yes the same call
   * gets through once. Stands before `asks`. Default false.
   */
  keeps?: boolean
  /** Says that the tool is the agent's own: Handrail knows of it no more than this, also if it has a tool of that name itself. Default: it is one of Handrail's. */
  own?: OwnTool
}

/** What is known of a tool that only its agent knows. */
export interface OwnTool {
  /** Whether it changes nothing and reaches nothing outside of the agent. If not, it is asked about like every tool that changes things. */
  harmless: boolean
}

/** What was decided about a call of an agent. A call that is denied has ended; any other one waits for its end. */
export interface ObservedCall {
  /** Handrail's id of the call. */
  call: string
  /** Canonical name of the tool, or the name that was asked for if there is none. */
  tool: string
  effect: 'allow' | 'ask' | 'deny'
  /** Why, in words, without secrets. */
  reason: string
  decision?: Decision
  /** Why it was denied. */
  error?: CallError
}

/** How a call of an agent ended. */
export type ObservedEnd =
  /** It ran; what the agent says of the result. Evidence keeps the start of it, redacted, and a digest of the whole. */
  | { outcome: 'ok' | 'failed'; response: Json }
  /** It did not run after all. */
  | { outcome: 'aborted' }

/** Calls that an agent runs itself, on the same steps as calls of a session up to their begin. */
export interface ObservedCalls {
  /**
   * Finds the tool, checks the input, and decides by profile, policy, decision points, budgets and hooks. No person is asked here. A call that may run
   * gets its begin in the evidence, durable when this resolves; it is charged one call and the bytes of its input at once. Any other
   * one gets begin and end. Never rejects for what happened to the call: what cannot be decided or recorded is denied.
   */
  begin(tool: string, input: unknown, options: ObserveOptions): Promise<ObservedCall>
  /** Ends the last call with this id that has begun in this session, in any process. Returns Handrail's id of it; undefined if none is open. */
  end(id: string, end: ObservedEnd): Promise<string | undefined>
  /** Ends all that are open as `unknown`: the agent does not say any more how they ended. Returns their number. */
  endAll(): Promise<number>
}
