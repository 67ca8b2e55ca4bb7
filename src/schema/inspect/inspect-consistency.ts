import type { JsonSchema } from '../../contract/base/schema.ts'
import { compileSchema } from '../compile/compile-schema.ts'
import { describeValue, quote, showJson } from '../base/describe.ts'
import { reportInvalid } from '../base/inspection.ts'
import type { Keywords } from '../base/is-keywords.ts'
import { JsonMap } from '../base/json-map.ts'
import { kindOf, kindsOf } from '../base/json-kind.ts'
import { createRun, inPart, type Run } from '../base/run.ts'

/** Bounds that must not cross. */
const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

/**
 * Reports what is well formed in a schema and makes no sense: bounds that cross, values that never fit. If it is combined with others,
 * these may declare what it speaks of.
 */
export function inspectConsistency(
  keywords: Keywords,
  { run, isCombined }: { run: Run; isCombined: boolean },
): void {
  // Every keyword passed the inspection of its form.
  const schema = keywords as JsonSchema
  inspectBounds(schema, run)
  if (!isCombined) inspectRequired(schema, run)
  inspectNullable(schema, run)
  inspectValues(schema, run)
  inspectRepeats('enum', { values: schema.enum, run })
  inspectRepeats('required', { values: schema.required, run })
  if (schema.default !== undefined) inspectDefault(schema, run)
}

function inspectBounds(schema: JsonSchema, run: Run): void {
  for (const [low, high] of pairs) {
    const least = schema[low]
    const most = schema[high]
    if (least !== undefined && most !== undefined && least > most)
      reportInvalid(run, `It is ${least}, above "${high}" (${most}); nothing could fit.`, low)
  }
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity } = schema
  if (above >= below || above >= (schema.maximum ?? Infinity))
    reportInvalid(
      run,
      `It is ${above}, not below the highest number allowed; nothing could fit.`,
      'exclusiveMinimum',
    )
  if ((schema.minimum ?? -Infinity) >= below)
    reportInvalid(
      run,
      `It is ${below}, not above "minimum" (${schema.minimum}); nothing could fit.`,
      'exclusiveMaximum',
    )
}

function inspectRequired(schema: JsonSchema, run: Run): void {
  for (const [index, name] of (schema.required ?? []).entries())
    if (!Object.hasOwn(schema.properties ?? {}, name))
      inPart(run, 'required', () =>
        reportInvalid(run, `${quote(name)} is not declared in "properties".`, String(index)),
      )
}

function inspectNullable(schema: JsonSchema, run: Run): void {
  if (schema.nullable !== true) return
  if (schema.type === undefined)
    reportInvalid(run, 'It needs a "type" beside it; without one, null is allowed anyway.', 'nullable')
  const values = schema.enum ?? (Object.hasOwn(schema, 'const') ? [schema.const] : undefined)
  if (values !== undefined && !values.includes(null))
    reportInvalid(run, 'Null is not among the allowed values; add it to "enum".', 'nullable')
}

function inspectValues(schema: JsonSchema, run: Run): void {
  const kinds = kindsOf(schema)
  for (const [index, value] of (schema.enum ?? []).entries())
    if ((kindOf(value) & kinds) === 0)
      inPart(run, 'enum', () => reportInvalid(run, `${showJson(value)} does not fit "type".`, String(index)))
  if (Object.hasOwn(schema, 'const') && (kindOf(schema.const) & kinds) === 0)
    reportInvalid(run, `${showJson(schema.const)} does not fit "type".`, 'const')
}

function inspectRepeats(
  keyword: string,
  { values = [], run }: { values: readonly unknown[] | undefined; run: Run },
): void {
  const seen = new JsonMap<true>()
  for (const [index, value] of values.entries()) {
    if (seen.get(value) === true)
      inPart(run, keyword, () => reportInvalid(run, `${showJson(value)} is there twice.`, String(index)))
    seen.set(value, true)
  }
}

function inspectDefault(schema: JsonSchema, run: Run): void {
  const own = createRun(false)
  compileSchema(schema)(schema.default, own)
  const [first] = own.issues
  if (first === undefined) return
  const place = first.pointer === '' ? '' : `, at ${first.pointer}`
  reportInvalid(
    run,
    `The default, ${describeValue(schema.default)}, does not fit the schema${place}: ${first.message}`,
    'default',
  )
}
