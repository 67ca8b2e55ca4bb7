import { isObject } from '../../kit/json/is-object.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { checkAny, reportNotJson } from './check-any.ts'
import { coerce } from './coerce.ts'
import { compileArray } from './compile-array.ts'
import { compileNumber } from './compile-number.ts'
import { compileObject, type ObjectRules } from './compile-object.ts'
import { compileString } from './compile-string.ts'
import { describeSchema, describeValue } from '../base/describe.ts'
import { JsonMap } from '../base/json-map.ts'
import { everyKind, kindOf, kinds, kindsOf } from '../base/json-kind.ts'
import { limits } from '../base/limits.ts'
import { createRun, pointerOf, report, type Check, type Run } from '../base/run.ts'

/**
 * Compiles a schema into closures. Keywords outside the subset are ignored: where there are any, the check is necessary and not
 * sufficient. Throws a `SetupError` for a schema that is nested too deeply, a `PatternError` for an unusable pattern.
 */
export function compileSchema(schema: JsonSchema): Check {
  return compile(schema, 0)
}

function compile(schema: JsonSchema, depth: number): Check {
  if (depth > limits.depth)
    throw new SetupError('unsupported_schema', `The schema is nested more than ${limits.depth} levels deep.`)
  const allowed = kindsOf(schema)
  const checkKind = compileKinds(schema, { allowed, depth })
  const values = allowedValues(schema)
  return (value, run) => {
    let current = value
    if ((kindOf(value) & allowed) === 0) {
      const repaired = run.repair ? coerce(value, allowed) : undefined
      if (repaired === undefined) return refuseKind(value, schema, run)
      run.repairs.push({ pointer: pointerOf(run), from: repaired.from, to: repaired.to })
      current = repaired.value
    }
    if (values === undefined) return checkKind(current, run)
    const before = run.issueCount
    const checked = checkKind(current, run)
    if (run.issueCount === before && values.get(checked) !== true) refuseValue(checked, schema, run)
    return checked
  }
}

type CheckKind = (value: unknown, run: Run) => unknown

/** One check for each kind of value that the schema says something about. */
function compileKinds(schema: JsonSchema, { allowed, depth }: { allowed: number; depth: number }): CheckKind {
  const checkString = (allowed & kinds.string) === 0 ? undefined : compileString(schema)
  const checkNumber = (allowed & (kinds.number | kinds.integer)) === 0 ? undefined : compileNumber(schema)
  const checkArray =
    (allowed & kinds.array) === 0 ? undefined : compileArray(schema, itemCheck(schema, depth))
  const checkObject = (allowed & kinds.object) === 0 ? undefined : compileObject(objectRules(schema, depth))
  return (value, run) => {
    if (typeof value === 'string') checkString?.(value, run)
    else if (typeof value === 'number') checkNumber?.(value, run)
    else if (Array.isArray(value)) return checkArray?.(value, run) ?? value
    else if (isObject(value)) return checkObject?.(value, run) ?? value
    return value
  }
}

function itemCheck(schema: JsonSchema, depth: number): Check {
  // Items after a tuple's are left to the full validation.
  if (schema.items === undefined || 'prefixItems' in schema) return checkAny
  return compile(schema.items, depth + 1)
}

function objectRules(schema: JsonSchema, depth: number): ObjectRules {
  const required = schema.required ?? []
  const fields: [string, { check: Check; required: boolean; schema: JsonSchema }][] = []
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (name === '__proto__') continue
    fields.push([
      name,
      { check: compile(field, depth + 1), required: required.includes(name), schema: field },
    ])
  }
  return {
    fields: new Map(fields),
    required,
    defaults: fittingDefaults(fields),
    others: otherCheck(schema, depth),
    minProperties: schema.minProperties ?? 0,
    maxProperties: schema.maxProperties ?? Infinity,
  }
}

/** A default that does not fit its own schema is documentation only: filled in, it would spoil every call. */
function fittingDefaults(
  fields: Iterable<[string, { check: Check; schema: JsonSchema }]>,
): Map<string, unknown> {
  const defaults = new Map<string, unknown>()
  for (const [name, { check, schema }] of fields) {
    if (schema.default === undefined) continue
    const run = createRun(false)
    check(schema.default, run)
    if (run.issueCount === 0) defaults.set(name, schema.default)
  }
  return defaults
}

function otherCheck(schema: JsonSchema, depth: number): Check | undefined {
  // Which names are "additional" depends on patternProperties, which the full validation knows.
  if ('patternProperties' in schema) return checkAny
  if (schema.additionalProperties === false) return undefined
  if (typeof schema.additionalProperties !== 'object') return checkAny
  return compile(schema.additionalProperties, depth + 1)
}

/** The values of `enum` and `const`; undefined if a schema has neither. */
export function allowedValues(schema: JsonSchema): JsonMap<true> | undefined {
  const fixed = Object.hasOwn(schema, 'const') ? [schema.const] : undefined
  if (schema.enum === undefined && fixed === undefined) return undefined
  const values = new JsonMap<true>()
  for (const value of schema.enum ?? fixed ?? []) values.set(value, true)
  if (schema.enum === undefined || fixed === undefined) return values
  const both = new JsonMap<true>()
  if (values.get(schema.const) === true) both.set(schema.const, true)
  return both
}

/** Reports a value of a type that the schema does not have. */
export function refuseKind(value: unknown, schema: JsonSchema, run: Run): unknown {
  if (kindsOf(schema) === everyKind) reportNotJson(value, run)
  else
    report(run, 'wrong_type', {
      message: () => `Found ${describeValue(value)}; give ${describeSchema(schema)}.`,
    })
  return value
}

/** Reports a value that is none of those that the schema lists. */
export function refuseValue(value: unknown, schema: JsonSchema, run: Run): void {
  report(run, 'not_allowed', {
    message: () => `Found ${describeValue(value)}; give ${describeSchema(schema)}.`,
  })
}
