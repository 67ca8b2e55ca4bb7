import type { Counterpart } from './counterpart.ts'
import type { Principal } from './principal.ts'

/** Who proposed a call: a model, a program, or Handrail itself. All go through the same pipeline. */
export const origins = ['llm', 'api', 'system'] as const
export type Origin = (typeof origins)[number]

/** One tool call as it comes to the pipeline. */
export interface Call {
  /** Handrail's own id. */
  readonly id: string
  /** The provider's id, or `id`. */
  readonly toolCallId: string
  /** The name as asked for. */
  readonly tool: string
  /** The input as it came, as a copy of Handrail's own; nothing about it is known yet. */
  readonly input: unknown
  readonly presentation: Presentation
  readonly principal: Principal
  readonly session: string
  readonly origin: Origin
  readonly idempotencyKey?: string
  /** Id of a standing consent that the caller refers to. */
  readonly consent?: string
  /** The model that makes it, if the session names none. */
  readonly model?: SessionModel
  /** `traceparent` of the caller (W3C Trace Context), kept in the evidence. */
  readonly trace?: string
  /** The record of it at the domain that asked for it. */
  readonly counterpart?: Counterpart
  readonly rawName?: string
  readonly rawId?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A model, in the words of the manifests of the tools. */
export interface SessionModel {
  /** Such as `anthropic`. */
  readonly provider: string
  readonly name?: string
}

/** How a tool is presented: under its own name and schema, or under those that models already know. */
export type Presentation = 'canonical' | 'compatible'
