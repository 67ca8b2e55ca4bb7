/** The APIs of models that the doors speak. */
export type ModelApi =
  | 'anthropic-messages'
  | 'openai-responses'
  | 'openai-chat'
  | 'google-generate-content'
  | 'bedrock-converse'

/** What an API refuses, or takes only in one form. Counts are inclusive. */
export type Rule =
  /** Names of tools. */
  | { readonly kind: 'tool-name'; readonly pattern: RegExp }
  | { readonly kind: 'tool-description'; readonly maxLength: number }
  | { readonly kind: 'tool-count'; readonly max: number }
  /** Ids of calls in a conversation. */
  | { readonly kind: 'call-id'; readonly pattern: RegExp }
  /** Calls in one answer of a conversation. */
  | { readonly kind: 'call-count'; readonly max: number }
  /** Every call has its result in what follows it, and every result its call. */
  | { readonly kind: 'paired' }
  /** Results of tools stand before everything else in their message. */
  | { readonly kind: 'results-first' }
  /** The types of content blocks in the result of a tool. */
  | { readonly kind: 'result-content'; readonly types: readonly string[] }
  /** The schema says `type: "object"` at its top, and none of these. */
  | { readonly kind: 'root'; readonly without: readonly string[]; readonly properties?: true }
  | { readonly kind: 'property-key'; readonly pattern: RegExp }
  /** Every array says `items`. */
  | { readonly kind: 'items' }
  /** No other keywords. */
  | { readonly kind: 'keywords'; readonly known: readonly string[] }
  /** No union of types in `type`; null is said by `nullable`. */
  | { readonly kind: 'one-type' }
  /** The values of an enum: only of these types, and `type` stands beside them. */
  | { readonly kind: 'enum'; readonly of: readonly string[]; readonly typed?: true }
  /** No object without properties says `properties`. */
  | { readonly kind: 'no-empty-properties' }
  | { readonly kind: 'min-items'; readonly max: number }
  | { readonly kind: 'formats'; readonly known: readonly string[] }
  /** What no pattern may have in it. */
  | { readonly kind: 'patterns'; readonly without: RegExp }
  /** Every object says `additionalProperties: false`. */
  | { readonly kind: 'closed-objects' }
  /** Every property is required. */
  | { readonly kind: 'all-required' }
  /** Names in `required` are those of properties. */
  | { readonly kind: 'required-defined' }
  /** Every part of the schema says which values it takes. */
  | { readonly kind: 'typed' }
  | { readonly kind: 'no-recursion' }
  /** Levels of objects and arrays. */
  | { readonly kind: 'depth'; readonly max: number }
  | { readonly kind: 'property-count'; readonly max: number }
  | { readonly kind: 'enum-count'; readonly max: number }
  /** Characters of the names of properties and definitions, and of the values of enums and consts. */
  | { readonly kind: 'text-length'; readonly max: number }
  /** Characters of the values of an enum with more values than `above`. */
  | { readonly kind: 'enum-length'; readonly above: number; readonly max: number }
  /** Of all strict tools of a request. */
  | { readonly kind: 'strict-tools'; readonly max: number }
  | { readonly kind: 'strict-optional'; readonly max: number }
  | { readonly kind: 'strict-unions'; readonly max: number }

/** One row of the table: what one API is known to do, and where that is said. */
export interface ProviderRule {
  readonly api: ModelApi
  /** Only for tools that are sent as strict. */
  readonly strict?: true
  /** Only for schemas in this field of a definition. */
  readonly field?: 'parameters' | 'parametersJsonSchema'
  /** Only for requests to these providers or models, by what their names contain. */
  readonly model?: RegExp
  /** Not for requests to these. */
  readonly notModel?: RegExp
  readonly rule: Rule
  /** The page or thread that says so. */
  readonly source: string
}
