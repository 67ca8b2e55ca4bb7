import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { childrenAt } from './children-at.ts'
import type { Rules } from '../rules/find-rules.ts'
import { inspectSchema } from '../../schema/inspect/inspect-schema.ts'
import { countStrict, findOverLimits } from './find-over-limits.ts'
import { isKeywords, typesOf, typeOfValue, type Keywords } from './lowering.ts'

/** What a provider does not take of a schema that is sent as it is. */
export function findUnfit(schema: unknown, rules: Rules): readonly Issue[] {
  if (!isKeywords(schema)) return [issue('', 'It must be an object with type "object".')]
  const root = rules.find('root')
  return [
    ...(root === undefined ? [] : findInRoot(schema, root)),
    ...findMalformed(schema),
    ...findInParts(schema, '', rules),
    ...findOverLimits(schema, rules),
    ...findStrictCounts([schema], rules),
  ]
}

/** What the strict tools of a request add up to, if that is more than the provider takes. */
export function findStrictCounts(schemas: readonly Keywords[], rules: Rules): readonly Issue[] {
  const counts = schemas.map(countStrict)
  const found = {
    'strict-tools': schemas.length,
    'strict-optional': counts.reduce((sum, { optional }) => sum + optional, 0),
    'strict-unions': counts.reduce((sum, { unions }) => sum + unions, 0),
  }
  const words = {
    'strict-tools': 'strict tools',
    'strict-optional': 'optional properties in strict tools',
    'strict-unions': 'properties of several types in strict tools',
  }
  return (['strict-tools', 'strict-optional', 'strict-unions'] as const).flatMap((kind) => {
    const max = rules.find(kind)?.max ?? Infinity
    return found[kind] > max ? [issue('', `There are ${found[kind]} ${words[kind]}; ${max} are taken.`)] : []
  })
}

function issue(pointer: string, message: string): Issue {
  return { pointer, code: 'unfit_schema', message }
}

function findInRoot(
  schema: Keywords,
  { without, properties }: { readonly without: readonly string[]; readonly properties?: true },
): Issue[] {
  return [
    ...(schema['type'] === 'object' ? [] : [issue('/type', 'It must be "object" at the top.')]),
    ...without
      .filter((keyword) => schema[keyword] !== undefined)
      .map((keyword) => issue(pointerTo('', keyword), `"${keyword}" is not taken at the top of a schema.`)),
    ...(properties === true && !isKeywords(schema['properties'])
      ? [issue('/properties', 'It must be there at the top, also if it is empty.')]
      : []),
  ]
}

function findInParts(schema: Keywords, at: string, rules: Rules): Issue[] {
  const known = rules.find('keywords')?.known
  const unknown =
    known === undefined
      ? []
      : Object.keys(schema).filter((keyword) => !known.includes(keyword) && keyword !== 'title')
  return [
    ...unknown.map((keyword) => issue(pointerTo(at, keyword), `"${keyword}" is not taken.`)),
    ...findInKeys(schema, at, rules),
    ...findInValues(schema, at, rules),
    ...findOpen(schema, at, rules),
    ...childrenAt(schema, at).flatMap(([child, below]) => findInParts(child, below, rules)),
  ]
}

function findInKeys({ properties }: Keywords, at: string, rules: Rules): Issue[] {
  const pattern = rules.find('property-key')?.pattern
  if (!isKeywords(properties)) return []
  const names = Object.keys(properties)
  const below = pointerTo(at, 'properties')
  if (names.length === 0 && rules.find('no-empty-properties') !== undefined)
    return [issue(below, 'It must not be empty.')]
  return names
    .filter((name) => pattern !== undefined && !pattern.test(name))
    .map((name) => issue(pointerTo(below, name), `The name of a property must match ${String(pattern)}.`))
}

function findInValues(schema: Keywords, at: string, rules: Rules): Issue[] {
  const { enum: values, format, pattern, minItems, items } = schema
  const types = typesOf(schema)
  const rule = rules.find('enum')
  const issues: Issue[] = []
  const say = (keyword: string, message: string): void =>
    void issues.push(issue(pointerTo(at, keyword), message))
  const formats = rules.find('formats')?.known
  if (formats !== undefined && typeof format === 'string' && !formats.includes(format))
    say('format', `"${format}" is not taken.`)
  if (typeof pattern === 'string' && rules.find('patterns')?.without.test(pattern) === true)
    say('pattern', 'Word boundaries, references and looking around are not taken.')
  const most = rules.find('min-items')?.max
  if (most !== undefined && typeof minItems === 'number' && minItems > most)
    say('minItems', `${most} is the most that is taken.`)
  if (rules.find('items') !== undefined && types.includes('array') && !isKeywords(items))
    say('items', 'Every array says what its items are.')
  if (rules.find('required-defined') !== undefined) issues.push(...findUndefined(schema, at))
  if (rules.find('one-type') !== undefined && Array.isArray(schema['type']))
    say('type', 'One type is taken; say null by "nullable".')
  if (rule !== undefined && Array.isArray(values)) {
    const others = values
      .map((value) => typeOfValue(value).replace('integer', 'number'))
      .filter((type) => !rule.of.includes(type))
    if (others.length > 0) say('enum', `Values of type ${[...new Set(others)].join(', ')} are not taken.`)
    if (rule.typed === true && schema['type'] !== 'string') say('enum', 'It needs type "string" beside it.')
  }
  if (
    rules.find('typed') !== undefined &&
    ['type', 'anyOf', '$ref', 'enum', 'const'].every((each) => schema[each] === undefined)
  )
    issues.push(issue(at, 'It must say its type.'))
  return issues
}

function findUndefined({ properties, required }: Keywords, at: string): Issue[] {
  const names: unknown[] = Array.isArray(required) ? required : []
  return names
    .filter((name) => typeof name !== 'string' || !isKeywords(properties) || !Object.hasOwn(properties, name))
    .map((name) => issue(pointerTo(at, 'required'), `${JSON.stringify(name)} is not a property.`))
}

/** What is not a schema for any API. */
function findMalformed(schema: Keywords): Issue[] {
  return inspectSchema(schema, 'imported')
    .filter(({ code, pointer }) => code === 'invalid_schema' || pointer.endsWith('/$ref'))
    .map(({ pointer, message }) => issue(pointer, message))
}

function findOpen(schema: Keywords, at: string, rules: Rules): Issue[] {
  const { properties, additionalProperties, required } = schema
  const isObject = typesOf(schema).includes('object') || isKeywords(properties)
  if (!isObject || rules.find('closed-objects') === undefined) return []
  const needed: unknown[] = Array.isArray(required) ? required : []
  const missing =
    rules.find('all-required') === undefined || !isKeywords(properties)
      ? []
      : Object.keys(properties).filter((name) => !needed.includes(name))
  return [
    ...(additionalProperties === false
      ? []
      : [issue(pointerTo(at, 'additionalProperties'), 'It must be false in every object of a strict tool.')]),
    ...missing.map((name) =>
      issue(pointerTo(at, 'required'), `"${name}" must be in it, as every property of a strict tool.`),
    ),
  ]
}
