import type { JsonSchema } from '../../contract/base/schema.ts'

/** A text with at least one letter. */
export const text: JsonSchema = { type: 'string', minLength: 1 }

/** Any number of texts. */
export const texts: JsonSchema = { type: 'array', items: text }

/** Texts of which any may match: without one, nothing could. */
export const someTexts: JsonSchema = { ...texts, minItems: 1 }

/** An argument vector: a program and its arguments. An argument may be empty. */
export const argv: JsonSchema = { type: 'array', items: { type: 'string' }, minItems: 1 }

export const flag: JsonSchema = { type: 'boolean' }

/** A whole number from 1 on. */
export const count: JsonSchema = { type: 'integer', minimum: 1 }

/** An object that has these members only. */
export function object(
  properties: { [name: string]: JsonSchema },
  about: { description: string; required?: string[] },
): JsonSchema {
  return { type: 'object', additionalProperties: false, ...about, properties }
}

export function list(items: JsonSchema, description: string): JsonSchema {
  return { type: 'array', items, description }
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description }
}
