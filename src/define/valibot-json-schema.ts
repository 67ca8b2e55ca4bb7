import { createRequire } from 'node:module'
import { SetupError } from '../contract/base/errors.ts'
import { changesMeaning } from './changes-meaning.ts'
import type { StandardSchema } from './standard-schema.ts'

const converter = '@valibot/to-json-schema'

/**
 * The JSON Schema of a schema whose library cannot give it by itself. Valibot's converter is used where it is installed; otherwise
 * this throws a `SetupError` that says what to install or how to wrap the schema.
 */
export function toValibotJsonSchema(input: StandardSchema): unknown {
  const { vendor } = input['~standard']
  if (vendor !== 'valibot')
    throw new SetupError(
      'unsupported_schema',
      `The ${vendor} schema cannot give JSON Schema; update ${vendor}, or write the schema as JSON Schema.`,
    )
  return loadConverter()(input, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ownChecks,
    overrideAction: leaveFlags,
  })
}

interface ActionContext {
  readonly valibotAction: { readonly type: string; readonly requirement?: unknown }
  readonly jsonSchema: object
}

/** A pattern that means something else without its flags is left to Valibot, which checks every value too. */
function leaveFlags({ valibotAction, jsonSchema }: ActionContext): object | undefined {
  const { type, requirement } = valibotAction
  if (type !== 'regex' || !(requirement instanceof RegExp) || !changesMeaning(requirement)) return undefined
  const { pattern: _, ...others }: { pattern?: unknown } = { ...jsonSchema }
  return others
}

/** Checks in code: no JSON Schema can say them, and Valibot makes them when it parses. */
const ownChecks = ['check', 'check_items', 'partial_check', 'raw_check']

interface ConvertOptions {
  target: string
  typeMode: string
  ignoreActions: readonly string[]
  overrideAction: (context: ActionContext) => object | undefined
}

type Convert = (schema: unknown, options: ConvertOptions) => unknown

function loadConverter(): Convert {
  try {
    const { toJsonSchema }: { toJsonSchema: Convert } = createRequire(import.meta.url)(converter)
    return toJsonSchema
  } catch (error) {
    throw new SetupError(
      'unsupported_schema',
      `A Valibot schema needs "${converter}": install it, or wrap the schema with its toStandardJsonSchema(). ` +
        `(${error instanceof Error ? error.message : String(error)})`,
    )
  }
}
