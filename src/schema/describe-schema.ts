import type { JsonSchema } from '../contract/schema.ts'
export type InputSchema = JsonSchema
export type InferInput<S> = S extends JsonSchema ? Record<string, string> : never
export function describeSchema(input: InputSchema): {
  schema: JsonSchema
  parse?: (value: unknown) => unknown
} {
  return { schema: input }
}
