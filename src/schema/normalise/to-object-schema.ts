import type { JsonSchema, Subschema } from '../../contract/base/schema.ts'
import { createResolver, type Resolve } from '../base/references.ts'

/** References that are followed for the type at the top of a schema. */
const maxSteps = 1_000

/**
 * The schema with the type that its choices and references say anyway, if all of them are objects: `{ "oneOf": [{ "type": "object" }] }`
 * has the type `object` at the top then, which the input of a tool must have. Otherwise the schema as it is.
 */
export function toObjectSchema(schema: JsonSchema): JsonSchema {
  if (schema.type !== undefined || typeof schema !== 'object') return schema
  const look: Look = { resolve: createResolver(schema), left: maxSteps }
  return isObjectOnly(schema, look) ? { type: 'object', ...schema } : schema
}

/**
 * The schema without a way for fields that it does not name, unless it says itself what becomes of them. The choices of a schema that is
 * nothing but a choice are closed one by one, so that an issue names the fields of the choice that was meant.
 */
export function closeObjectSchema(schema: JsonSchema): JsonSchema {
  const { type, additionalProperties, unevaluatedProperties } = schema
  if (type !== 'object' || additionalProperties !== undefined || unevaluatedProperties !== undefined)
    return schema
  if (!combining.some((keyword) => schema[keyword] !== undefined))
    return { ...schema, additionalProperties: false }
  // What the parts of it name counts as named.
  return closeChoices(schema) ?? { ...schema, unevaluatedProperties: false }
}

const combining = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas'] as const
const words: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'examples', '$defs'])

/** Undefined if there is more to the schema than one choice between objects that are written out. */
function closeChoices(schema: JsonSchema): JsonSchema | undefined {
  const [keyword, ...others] = Object.keys(schema).filter((each) => !words.has(each))
  if (others.length > 0 || (keyword !== 'anyOf' && keyword !== 'oneOf')) return undefined
  const choices = schema[keyword] ?? []
  const isPlain = (choice: Subschema): choice is JsonSchema =>
    typeof choice === 'object' &&
    choice.type === 'object' &&
    !combining.some((each) => choice[each] !== undefined)
  return choices.every(isPlain) ? { ...schema, [keyword]: choices.map(closeObjectSchema) } : undefined
}

interface Look {
  readonly resolve: Resolve
  left: number
}

function isObjectOnly(schema: unknown, look: Look): boolean {
  if (typeof schema !== 'object' || schema === null || --look.left <= 0) return false
  const { type, $ref, anyOf, oneOf, allOf }: JsonSchema = schema
  if (type !== undefined) return type === 'object'
  if (typeof $ref === 'string' && isObjectOnly(look.resolve($ref), look)) return true
  const all = (choices: unknown): boolean =>
    Array.isArray(choices) && choices.length > 0 && choices.every((each) => isObjectOnly(each, look))
  const some = Array.isArray(allOf) && allOf.some((each) => isObjectOnly(each, look))
  return some || all(anyOf) || all(oneOf)
}
