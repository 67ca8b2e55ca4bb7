import type { JsonSchema } from '../../contract/base/schema.ts'
import type { FromSchema } from '../../define/infer-input.ts'
import type { ConsoleParts } from './console-parts.ts'
import type { ConsoleRole } from '../../contract/mcp/console-login.ts'
import type { Visitor } from './roles.ts'

/** A question of the API, before it is known of which tenant it is. */
export interface Question {
  readonly visitor: Visitor
  /** Parts of the path that it names in braces. */
  readonly path: { readonly [name: string]: string }
  readonly query: URLSearchParams
  readonly body: { readonly [name: string]: unknown }
  /** Of the console, as the browser of the visitor knows it. */
  readonly origin: string
  readonly parts: ConsoleParts
}

/** A question of the API that can be answered: its visitor has the role in all that it reaches. */
export interface Asked extends Question {
  /** The tenants that it reaches. For `each`, those in which the visitor has the role; else those that were found, `everyTenant` among them. */
  readonly tenants: readonly string[]
}

/**
 * What an operation reaches. `self`: its visitor alone. `each`: every tenant in which they have the role, and nothing of others. Else what finds its tenants
 * (`everyTenant` for all), or answers why there are none: the visitor needs the role in each of them.
 */
export type Reach = 'self' | 'each' | ((question: Question) => readonly string[] | Response)

/** One thing that the API does. It is documented by what stands here, and by nothing else. */
export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** Such as `/api/calls/{call}`. */
  readonly path: string
  readonly summary: string
  /** Who may ask it, or more, in the tenants that it reaches. */
  readonly role: ConsoleRole
  readonly reach: Reach
  /** What a query may hold, by name: what each means. */
  readonly query?: { readonly [name: string]: string }
  readonly body?: JsonSchema
  /** Characters that a body has at most. Default: 65,536. */
  readonly mostCharacters?: number
  readonly answer: JsonSchema
  /** Resolves with the answer, or a problem as a `Response`. */
  readonly run: (asked: Asked) => object | Promise<object>
}

/** An endpoint whose answer is checked against its schema by the compiler. */
export function endpoint<const Answer extends JsonSchema>(
  about: Omit<Endpoint, 'answer' | 'run'> & {
    readonly answer: Answer
    readonly run: (asked: Asked) => FromSchema<Answer> | Response | Promise<FromSchema<Answer> | Response>
  },
): Endpoint {
  return about as unknown as Endpoint
}
