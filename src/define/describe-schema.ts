import { SetupError, ToolFailure } from '../contract/base/errors.ts'
import { isJsonObject } from '../kit/json/is-json-object.ts'
import type { Issue, JsonObject } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { refuseOtherLibraries, refuseOtherZod } from './other-libraries.ts'
import { simplifyOwn } from '../schema/normalise/simplify-own.ts'
import { withoutPatterns } from '../schema/without-patterns.ts'
import { arktypeOptions } from './arktype-options.ts'
import { zodOptions } from './zod-options.ts'
import { normaliseSchema } from '../schema/normalise/normalise-schema.ts'
import { isStandardSchema, type StandardIssue, type StandardSchema } from './standard-schema.ts'
import { toValibotJsonSchema } from './valibot-json-schema.ts'

export type { InferInput } from './infer-input.ts'

/** A schema a tool may be written with: JSON Schema, or one of a library with Standard Schema. */
export type InputSchema = JsonSchema | StandardSchema

/** A schema as JSON Schema, and how its library turns a value that fits into what the tool takes. */
interface DescribedSchema {
  readonly schema: JsonSchema
  /** Only for schemas of a library: runs its refinements and transforms. Throws a `ToolFailure` with every issue of a value. */
  readonly parse?: (value: unknown) => unknown
}

/**
 * Takes JSON Schema, zod 4, Valibot, ArkType, or any Standard Schema that can give JSON Schema. It is brought into the subset that every
 * model provider understands if that loses nothing; what remains of other keywords is validated in full. Throws a `SetupError` for a
 * schema that cannot be said as JSON Schema.
 */
export function describeSchema(input: InputSchema): DescribedSchema {
  if (!isStandardSchema(input)) {
    refuseOtherLibraries(input)
    return { schema: simplifyOwn(input) }
  }
  const emitted = emit(input)
  const { schema, issues } = normaliseSchema(emitted)
  if (issues.length > 0)
    throw new SetupError('unsupported_schema', `The ${vendorOf(input)} schema cannot be used:`, issues)
  return { schema, parse: (value) => parse(input, value) }
}

function emit(input: StandardSchema): JsonObject {
  const { jsonSchema, vendor } = input['~standard']
  if (jsonSchema === undefined) refuseOtherZod(input)
  const emitted = describe(input, () =>
    jsonSchema === undefined
      ? toValibotJsonSchema(input)
      : jsonSchema.input({
          target: 'draft-2020-12',
          ...optionsOf(vendor),
        }),
  )
  if (!isJsonObject(emitted))
    throw new SetupError(
      'unsupported_schema',
      `The ${vendorOf(input)} schema gave no JSON Schema object; declare an object.`,
    )
  // Whether all of it is JSON is looked at by the inspection.
  return saysFlags.includes(vendor) ? emitted : withoutPatterns(emitted)
}

/** Libraries that give no pattern, or are asked to give none, that means something else without its flags. */
const saysFlags: readonly string[] = ['zod', 'valibot']

/** Libraries throw for what JSON Schema cannot say, such as a Date. */
function describe(input: StandardSchema, emitSchema: () => unknown): unknown {
  try {
    return emitSchema()
  } catch (error) {
    if (error instanceof SetupError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupError(
      'unsupported_schema',
      `The ${vendorOf(input)} schema cannot be said as JSON Schema: ${reason.replace(/[.\s]*$/, '.')} ${adviceFor(reason)}`,
    )
  }
}

/** What to write for what JSON does not have. */
const advices: readonly (readonly [RegExp, string])[] = [
  [
    /\bdate\b/i,
    'Use types that JSON has: a string with the time in ISO 8601, which the tool turns into a Date.',
  ],
  [/bigint/i, 'Use types that JSON has: a string of digits, which the tool turns into a BigInt.'],
  [/\bmap\b/i, 'Use types that JSON has: a record.'],
  [/\bset\b/i, 'Use types that JSON has: an array.'],
  [/\b(file|blob)s?\b/i, 'Use types that JSON has: a string with a path, or with the content in Base64.'],
]

function adviceFor(reason: string): string {
  const [, advice = 'Use types that JSON has, and convert in the tool.'] =
    advices.find(([pattern]) => pattern.test(reason)) ?? []
  return advice
}

/** What the converter of a library is told. */
function optionsOf(vendor: string): { libraryOptions?: Readonly<Record<string, unknown>> } {
  if (vendor === 'zod') return { libraryOptions: zodOptions }
  return vendor === 'arktype' ? { libraryOptions: arktypeOptions } : {}
}

function parse(input: StandardSchema, value: unknown): unknown {
  const result = input['~standard'].validate(value)
  if (result instanceof Promise) {
    // No caller will look at it any more; the error below says what to do.
    result.catch(() => undefined)
    throw new SetupError(
      'unsupported_schema',
      `The ${vendorOf(input)} schema validates asynchronously; make its checks synchronous, or do them in the tool.`,
    )
  }
  if (result.issues !== undefined) throw misfit(result.issues.map(toIssue))
  if (!('value' in result))
    throw new SetupError(
      'unsupported_schema',
      `The ${vendorOf(input)} schema answered neither a value nor issues; update ${vendorOf(input)}.`,
    )
  return result.value
}

function misfit(issues: readonly Issue[]): ToolFailure {
  const lines = issues.map(({ pointer, message }) => `${pointer || '/'}: ${message}`)
  return new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: `The input does not fit: ${lines.join(' ')}`,
    issues,
  })
}

function toIssue(issue: StandardIssue): Issue {
  let pointer = ''
  for (const step of issue.path ?? [])
    pointer = pointerTo(pointer, String(typeof step === 'object' ? step.key : step))
  return { pointer, code: 'does_not_fit', message: issue.message }
}

function vendorOf(input: StandardSchema): string {
  return input['~standard'].vendor
}
