import { ToolFailure } from '../contract/base/errors.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { resolveInput, type Parsed, type SchemaInput } from './resolve-input.ts'

export type { InferInput } from './infer-input.ts'

/** A schema a tool may be written with: JSON Schema, or one of a library with Standard Schema. */
export type InputSchema = SchemaInput

/**
 * As `resolveInput`, for a tool's `decode`: what the library refuses is thrown as a `ToolFailure` that carries
 * every fault.
 */
export function describeSchema(input: InputSchema): {
  schema: JsonSchema
  parse?: (value: unknown) => unknown
} {
  const { schema, parse } = resolveInput(input)
  return parse === undefined ? { schema } : { schema, parse: (value) => valueOf(parse(value)) }
}

function valueOf(parsed: Parsed): unknown {
  if (parsed.ok) return parsed.value
  const lines = parsed.faults.map((fault) => `${fault.pointer || '/'}: ${fault.message}`)
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: `The input does not fit: ${lines.join(' ')}`,
    faults: parsed.faults,
  })
}
