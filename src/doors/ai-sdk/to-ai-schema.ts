import type { JsonObject } from '../../contract/base/json.ts'
import { toStandardSchema, type WireSchema } from '../base/to-standard-schema.ts'

/** Marks a schema that the AI SDK takes as it is (`jsonSchema()`), in every copy of its packages. */
const schemaSymbol = Symbol.for('vercel.ai.schema')

/** A JSON schema as the AI SDK takes it. */
export interface AiSchema extends WireSchema {
  readonly jsonSchema: JsonObject
}

/** Wraps a JSON schema for the AI SDK, without loading it. The SDK would close every object of a Standard Schema; one of its own it leaves. */
export function toAiSchema(schema: JsonObject): AiSchema {
  const marked = { [schemaSymbol]: true, validate: undefined, jsonSchema: schema }
  return { ...toStandardSchema(schema), ...marked }
}
