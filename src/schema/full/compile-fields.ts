import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { count, quote } from '../base/describe.ts'
import { compilePattern } from '../pattern/compile-pattern.ts'
import { report, type Run } from '../base/run.ts'
import { applyTo, OutOfSteps, type FullSchema, type Look, type Rule, type RuleOf } from './rule.ts'

type Members = Readonly<Record<string, unknown>>

/** What a schema says of the fields of an object. */
export function compileFields(schema: FullSchema, ruleOf: RuleOf): Rule | undefined {
  const checks = [compileNames(schema), compileEach(schema, ruleOf), compilePropertyNames(schema, ruleOf)]
  const used = checks.filter((check) => check !== undefined)
  if (used.length === 0) return undefined
  return (value, look) => {
    if (isPlainObject(value)) for (const check of used) check(value, look)
  }
}

type CheckMembers = (members: Members, look: Look) => void

/** JSON leaves undefined members out, so they count as absent. */
function has(members: Members, name: string): boolean {
  return Object.hasOwn(members, name) && members[name] !== undefined
}

/** The names that there are. */
export function namesOf(members: Members): string[] {
  return Object.keys(members).filter((name) => members[name] !== undefined)
}

function compileNames(schema: FullSchema): CheckMembers | undefined {
  const { required = [], dependentRequired = {}, minProperties = 0, maxProperties = Infinity } = schema
  const dependents = Object.entries(dependentRequired)
  if (required.length + dependents.length + minProperties === 0 && maxProperties === Infinity)
    return undefined
  return (members, { run }) => {
    for (const name of required) if (!has(members, name)) reportMissing(name, '', run)
    for (const [name, others] of dependents)
      for (const other of has(members, name) ? others : [])
        if (!has(members, other)) reportMissing(other, `; it must be there when ${quote(name)} is`, run)
    const size = namesOf(members).length
    if (size < minProperties)
      report(run, 'too_few', {
        message: () => `Found ${count(size, 'field')}; give at least ${minProperties}.`,
      })
    if (size > maxProperties)
      report(run, 'too_many', {
        message: () => `Found ${count(size, 'field')}; give at most ${maxProperties}.`,
      })
  }
}

function reportMissing(name: string, why: string, run: Run): void {
  report(run, 'missing_field', { token: name, message: () => `The field ${quote(name)} is missing${why}.` })
}

/** Reports a field that no schema allows. */
export function reportUnknown(name: string, run: Run): void {
  report(run, 'unknown_field', {
    token: name,
    message: () => `There is no field ${quote(name)}; remove it.`,
  })
}

function compileEach(schema: FullSchema, ruleOf: RuleOf): CheckMembers | undefined {
  const { properties = {}, patternProperties = {}, additionalProperties: others } = schema
  const patterns = Object.entries(patternProperties).map(([source, each]) => ({
    pattern: compilePattern(source),
    each,
  }))
  if (Object.keys(properties).length + patterns.length === 0 && others === undefined) return undefined
  return (members, { run, marks }) => {
    for (const name of namesOf(members)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined
      const matching = patterns.filter(({ pattern }) => matches(pattern, name, run)).map(({ each }) => each)
      const schemas = own === undefined ? matching : [own, ...matching]
      const value = members[name]
      for (const each of schemas) applyTo(name, ruleOf(each), { value, run })
      if (schemas.length === 0 && others === false) reportUnknown(name, run)
      else if (schemas.length === 0 && others !== undefined) applyTo(name, ruleOf(others), { value, run })
      if (schemas.length > 0 || others !== undefined) marks?.add(name)
    }
  }
}

function matches(pattern: ReturnType<typeof compilePattern>, name: string, run: Run): boolean {
  const matched = pattern.test(name, run)
  if (matched === undefined) throw new OutOfSteps()
  return matched
}

function compilePropertyNames({ propertyNames }: FullSchema, ruleOf: RuleOf): CheckMembers | undefined {
  if (propertyNames === undefined) return undefined
  return (members, { run }) => {
    for (const name of namesOf(members)) applyTo(name, ruleOf(propertyNames), { value: name, run })
  }
}
