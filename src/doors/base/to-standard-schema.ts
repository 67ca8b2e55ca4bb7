import type { JsonObject } from '../../contract/base/json.ts'

/** A JSON schema in the form of Standard Schema (https://standardschema.dev), with its JSON Schema. */
export interface WireSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'handrail'
    /** Lets every value through: Handrail checks the input of a call itself, so that a wrong one is recorded. */
    readonly validate: (value: unknown) => { readonly value: unknown }
    readonly jsonSchema: {
      readonly input: () => JsonObject
      readonly output: () => JsonObject
    }
  }
}

/** The schema of a tool in the form of Standard Schema. Each reader gets a copy. */
export function toStandardSchema(schema: JsonObject): WireSchema {
  const copy = (): JsonObject => structuredClone(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'handrail',
      validate: (value) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  }
}
