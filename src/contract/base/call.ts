import type { Principal } from './principal.ts'

/** Who proposed a call: a model, a program, or Handrail itself. All take the same road. */
export const origins = ['llm', 'api', 'system'] as const
export type Origin = (typeof origins)[number]

/** One tool call as it comes to the road. */
export interface Call {
  /** Handrail's own id. */
  readonly id: string
  /** The provider's id, or `id`. */
  readonly toolCallId: string
  /** The name as asked for. */
  readonly tool: string
  /** The input as it came, as a copy of Handrail's own; nothing about it is known yet. */
  readonly input: unknown
  readonly face: Face
  readonly principal: Principal
  readonly session: string
  readonly origin: Origin
  readonly idempotencyKey?: string
  /** Id of a standing consent that the caller refers to. */
  readonly consent?: string
  /** `traceparent` of the caller (W3C Trace Context), kept in the evidence. */
  readonly trace?: string
  readonly rawName?: string
  readonly rawId?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** How a tool is presented: under its own name and schema, or under those that models already know. */
export type Face = 'canonical' | 'familiar'

/** What a caller hands in. `input` is an object, or the JSON text of one. */
export interface CallRequest {
  tool: string
  input?: unknown
  /** The provider's tool call id; a number counts as its digits, and one of more than 1,024 characters is cut and marked. Made when it is missing. */
  id?: string | number
  /** Default `canonical`. */
  face?: Face
  /** Default `api` for `call`, `llm` for `turn`. */
  origin?: Origin
  idempotencyKey?: string
  /** Id of a standing consent. Without it, one that covers the call is looked for. */
  consent?: string
  /** `traceparent` of the caller (W3C Trace Context); one that is malformed is left out. */
  trace?: string
  /** The name the provider used on the wire, kept in the metadata only. */
  rawName?: string
  signal?: AbortSignal
}
