import type { Approver } from './approval.ts'
import type { Origin, Presentation, SessionModel } from './base/call.ts'
import type { Counterpart } from './base/counterpart.ts'
import type { ElicitationHandler } from './base/elicitation.ts'

/** What a caller hands in. `input` is an object, or the JSON text of one. */
export interface CallRequest {
  tool: string
  input?: unknown
  /** The provider's tool call id; a number counts as its digits, and one of more than 1,024 characters is cut and marked. Made when it is missing. */
  id?: string | number
  /** Default `canonical`. */
  presentation?: Presentation
  /** Default `api` for `call`, `llm` for `turn`. */
  origin?: Origin
  idempotencyKey?: string
  /** Id of a standing consent. Without it, one that covers the call is looked for. */
  consent?: string
  /** The model that makes the call, if its session names none: a tool whose manifest names other providers or models is not called. */
  model?: SessionModel
  /** `traceparent` of the caller (W3C Trace Context); one that is malformed is left out. */
  trace?: string
  /** The record of the call at the domain that asks for it, kept in the evidence. The program that names it vouches for that. */
  counterpart?: Counterpart
  /** The name the provider used on the wire, kept in the metadata only. */
  rawName?: string
  signal?: AbortSignal
  /** Whether the call of a long tool is answered once its job has ended, with what that returned. Default false: with the job. */
  follow?: boolean
  /** Asks the person about this call; default the approver of the session. A yes for the session belongs to the session. */
  approve?: Approver
  /** Answers what this call asks before it goes on; default the handler of the session. */
  elicit?: ElicitationHandler
  /** Called with the progress that the tool reports, without secrets. */
  onProgress?: (update: { message: string; done?: number; total?: number }) => void
  /** Passed to the tool as `caller` in its context, such as the request that the call is made for. Handrail neither reads nor records it. */
  caller?: unknown
}
