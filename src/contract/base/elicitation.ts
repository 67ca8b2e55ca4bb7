import type { JsonObject } from './json.ts'
import type { Principal } from './principal.ts'

/** A form to fill in, as MCP has them: flat, each field a text, a number, a yes or no, or a choice. */
export interface FormSchema {
  type: 'object'
  properties: { readonly [name: string]: FormField }
  required?: readonly string[]
}

/** One field of a form. */
export interface FormField {
  /** `array`: any of the choices of `items`. */
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array'
  title?: string
  description?: string
  /** What stands for a field that is left out. */
  default?: string | number | boolean | string[]
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: 'email' | 'uri' | 'date' | 'date-time'
  minimum?: number
  maximum?: number
  /** The choices of a text, without titles or with these. */
  enum?: readonly string[]
  enumNames?: readonly string[]
  oneOf?: readonly FormChoice[]
  /** The choices of an `array`. */
  items?: { type?: 'string'; enum?: readonly string[]; anyOf?: readonly FormChoice[] }
  minItems?: number
  maxItems?: number
}

/** A value to choose, and how it is shown. */
export interface FormChoice {
  const: string
  title: string
}

/** What is asked: a form to fill in, a page to visit, or words of a model. */
export type ElicitationParams =
  | { readonly mode: 'form'; readonly message: string; readonly schema: FormSchema }
  | { readonly mode: 'url'; readonly message: string; readonly url: string; readonly id?: string }
  /** `params` are those of `sampling/createMessage` of MCP. */
  | { readonly mode: 'sampling'; readonly params: JsonObject }

/** What a tool asks. It is looked at before anybody sees it. */
export type ElicitationRequest = (
  | Exclude<ElicitationParams, { mode: 'form' }>
  | { readonly mode: 'form'; readonly message: string; readonly schema: FormSchema | JsonObject }
) & {
  /** Who asks, such as `MCP server "notes"`. Default: the tool. */
  readonly from?: string
  /** Several calls of the session were under way, and it did not say which of them it asks for. */
  readonly presumed?: boolean
}

/**
 * What a call asks of the person or model that works with its session before it goes on. Everything it says comes from `from` and is to be
 * trusted no more than that: it is bounded, it has no invisible characters, and a page is on http or https. An answer permits nothing.
 */
export type Elicitation = ElicitationParams & {
  readonly callId: string
  readonly toolCallId: string
  /** Canonical name of the tool whose call asks. */
  readonly tool: string
  readonly session: string
  readonly principal: Principal
  /** Who asks, such as `MCP server "notes"`. */
  readonly from: string
  /** It may be of another call of the session: the one that asks did not say. */
  readonly presumed?: boolean
}

/**
 * `accept`: with `content` the fields of the form, or the message of the model as MCP has it (`role`, `content`, `model`); for a page it says
 * that the person goes there. `decline`: they do not want to. `cancel`: they did not say.
 */
export type ElicitationResult =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' }

/** Puts an elicitation to a person, or to a model. A rejection, and an answer that does not fit what was asked, count as `cancel`. */
export type ElicitationHandler = (elicitation: Elicitation, signal: AbortSignal) => Promise<ElicitationResult>
