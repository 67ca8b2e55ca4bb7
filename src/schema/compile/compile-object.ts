import type { JsonSchema } from '../../contract/base/schema.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { refuseKey } from './check-any.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { count, describeSchema, listNames, quote } from '../base/describe.ts'
import { enter, report, type Check, type Run } from '../base/run.ts'

type Members = Readonly<Record<string, unknown>>

interface Field {
  readonly check: Check
  readonly required: boolean
  readonly schema: JsonSchema
}

/** What an object schema allows: its fields, and a check for all others; undefined if others are refused. */
export interface ObjectRules {
  readonly fields: ReadonlyMap<string, Field>
  /** Every required name, declared or not. */
  readonly required: readonly string[]
  /** Values to fill in, with the check of their field. */
  readonly defaults: ReadonlyMap<string, unknown>
  readonly others: Check | undefined
  readonly minProperties: number
  readonly maxProperties: number
}

/** Checks an object's fields, fills in defaults, and names every missing and unknown one. */
export function compileObject(rules: ObjectRules): (members: Members, run: Run) => unknown {
  const { fields, defaults } = rules
  const requiredFields = rules.required.filter((name) => fields.has(name)).length
  const hasOtherDuties =
    requiredFields < rules.required.length || rules.minProperties > 0 || rules.maxProperties < Infinity
  return (members, run) => {
    const keys = Object.keys(members)
    if (!enter(run, keys.length)) return members
    let copy: Record<string, unknown> | undefined
    let missing = requiredFields
    for (const key of keys) {
      const item = members[key]
      // JSON leaves undefined members out, so they count as absent.
      if (item === undefined) continue
      const field = fields.get(key)
      if (field?.required === true) missing--
      const check = field === undefined ? checkOfOther(key, rules, run) : field.check
      if (check === undefined) continue
      run.path.push(key)
      const checked = check(item, run)
      run.path.pop()
      if (run.values <= 0) return members
      if (checked !== item) (copy ??= { ...members })[key] = checked
    }
    if (defaults.size > 0) copy = fillIn(copy ?? members, rules, run) ?? copy
    if (missing > 0 || hasOtherDuties) reportWhole(copy ?? members, rules, run)
    return copy ?? members
  }
}

function checkOfOther(key: string, rules: ObjectRules, run: Run): Check | undefined {
  if (refuseKey(key, run)) return undefined
  if (rules.others === undefined)
    report(run, 'unknown_field', { token: key, message: () => unknownField(key, [...rules.fields.keys()]) })
  return rules.others
}

function unknownField(key: string, names: readonly string[]): string {
  const near = nearestNames(key, names)
  const unknown = `There is no field ${quote(key)}`
  if (near.length > 0) return `${unknown}; did you mean ${listNames(near.map(quote), 'or')}?`
  if (names.length === 0) return `${unknown}; give an empty object.`
  if (names.length === 1) return `${unknown}; the only field is ${names.map(quote).join('')}.`
  return `${unknown}; the fields are ${listNames(names.map(quote), 'and')}.`
}

/** A copy with the missing defaults in it; undefined if none is missing. */
function fillIn(members: Members, rules: ObjectRules, run: Run): Record<string, unknown> | undefined {
  let copy: Record<string, unknown> | undefined
  for (const [name, value] of rules.defaults) {
    if (Object.hasOwn(members, name) && members[name] !== undefined) continue
    run.path.push(name)
    ;(copy ??= { ...members })[name] = rules.fields.get(name)?.check(copyJson(value), run)
    run.path.pop()
  }
  return copy
}

function reportWhole(members: Members, rules: ObjectRules, run: Run): void {
  for (const name of rules.required)
    if (!Object.hasOwn(members, name) || members[name] === undefined)
      report(run, 'missing_field', { token: name, message: () => missingField(name, rules) })
  if (rules.minProperties === 0 && rules.maxProperties === Infinity) return
  const size = Object.keys(members).filter((key) => members[key] !== undefined).length
  if (size < rules.minProperties)
    report(run, 'too_few', {
      message: () => `Found ${count(size, 'field')}; give at least ${rules.minProperties}.`,
    })
  if (size > rules.maxProperties)
    report(run, 'too_many', {
      message: () => `Found ${count(size, 'field')}; give at most ${rules.maxProperties}.`,
    })
}

function missingField(name: string, rules: ObjectRules): string {
  const field = rules.fields.get(name)
  const wanted = field === undefined ? 'a value' : describeSchema(field.schema)
  return `The field ${quote(name)} is missing; give ${wanted}.`
}
