import { SetupError } from '../contract/base/errors.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { normaliseSchema } from '../schema/normalise/normalise-schema.ts'
import { closeObjectSchema, toObjectSchema } from '../schema/normalise/to-object-schema.ts'
import { describeSchema, type InputSchema } from './describe-schema.ts'
import { isStandardSchema } from './standard-schema.ts'

/**
 * The JSON Schema of the input of a tool whose library checks and turns its input itself: fields that it does not name are refused, as of
 * every tool. Of JSON Schema every draft is taken. Throws a `SetupError` for a schema that cannot be said as JSON Schema.
 */
export function takeInputSchema(schema: InputSchema): JsonSchema {
  const taken = isStandardSchema(schema) ? describeSchema(schema).schema : takeJsonSchema(schema)
  return closeObjectSchema(toObjectSchema(taken))
}

function takeJsonSchema(given: JsonSchema): JsonSchema {
  // Refuses what is of zod 3.
  describeSchema(given)
  const { schema, issues } = normaliseSchema({ ...given } as JsonObject)
  if (issues.length > 0) throw new SetupError('unsupported_schema', 'The schema cannot be used:', issues)
  return schema
}
