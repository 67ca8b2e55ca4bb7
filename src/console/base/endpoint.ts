import type { JsonSchema } from '../../contract/base/schema.ts'
import type { FromSchema } from '../../define/infer-input.ts'
import type { ConsoleParts } from './console-parts.ts'
import type { ConsoleRole, Visitor } from './roles.ts'

/** A question of the API that can be answered. */
export interface Asked {
  readonly visitor: Visitor
  /** Parts of the path that it names in braces. */
  readonly path: { readonly [name: string]: string }
  readonly query: URLSearchParams
  readonly body: { readonly [name: string]: unknown }
  readonly parts: ConsoleParts
}

/** One thing that the API does. It is documented by what stands here, and by nothing else. */
export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** Such as `/api/calls/{call}`. */
  readonly path: string
  readonly summary: string
  /** Who may ask it, or more. */
  readonly role: ConsoleRole
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
