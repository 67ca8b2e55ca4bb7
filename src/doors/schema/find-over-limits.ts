import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { createResolver } from '../../schema/base/references.ts'
import type { Rules } from '../rules/find-rules.ts'
import type { Rule } from '../rules/rule.ts'
import { isKeywords, type Keywords } from './lowering.ts'

/** What a schema adds up to. */
interface Sum {
  depth: number
  properties: number
  enumValues: number
  text: number
}

/** The issues of a schema that is larger than the provider takes, or refers to itself where it may not. */
export function findOverLimits(schema: Keywords, rules: Rules): Issue[] {
  const issues: Issue[] = []
  const say = (pointer: string, message: string): void => {
    issues.push({ pointer, code: 'unfit_schema', message })
  }
  const sum: Sum = { depth: 0, properties: 0, enumValues: 0, text: 0 }
  const longEnum = rules.find('enum-length')
  const recursion = rules.find('no-recursion')
  walk(schema, { at: '', level: 0 }, (part, place) => {
    addUp(part, sum)
    sum.depth = Math.max(sum.depth, place.level)
    const { enum: values, $ref } = part
    if (longEnum !== undefined && Array.isArray(values) && values.length > longEnum.above) {
      const length = textLength(values)
      if (length > longEnum.max)
        say(
          pointerTo(place.at, 'enum'),
          `The values have ${length} characters; ${longEnum.max} are taken. Take a text in their place.`,
        )
    }
    if (recursion !== undefined && typeof $ref === 'string' && refersToItself($ref, schema))
      say(
        pointerTo(place.at, '$ref'),
        'Strict tools take no schema that contains itself. Say how deep it goes.',
      )
  })
  const most = (kind: MaxKind, found: number, what: string): void => {
    const rule = rules.find(kind)
    if (rule !== undefined && found > rule.max)
      say('', `The schema has ${found} ${what}; ${rule.max} are taken. Make it smaller, or split the tool.`)
  }
  most('depth', sum.depth, 'levels')
  most('property-count', sum.properties, 'properties')
  most('enum-count', sum.enumValues, 'enum values')
  most('text-length', sum.text, 'characters in names and values')
  return issues
}

type MaxKind = Extract<
  Rule,
  { readonly kind: 'depth' | 'property-count' | 'enum-count' | 'text-length' }
>['kind']

/** How many properties of a schema are optional, and how many take values of several types. */
export function countStrict(schema: Keywords): { readonly optional: number; readonly unions: number } {
  let optional = 0
  let unions = 0
  walk(schema, { at: '', level: 0 }, ({ properties, required, anyOf, type }) => {
    const needed: unknown[] = Array.isArray(required) ? required : []
    if (isKeywords(properties))
      optional += Object.keys(properties).filter((name) => !needed.includes(name)).length
    if (Array.isArray(anyOf) || (Array.isArray(type) && type.length > 1)) unions++
  })
  return { optional, unions }
}

interface Place {
  readonly at: string
  /** Objects and arrays around it. */
  readonly level: number
}

function walk(schema: unknown, place: Place, visit: (part: Keywords, place: Place) => void): void {
  if (!isKeywords(schema)) return
  visit(schema, place)
  const { properties, items, anyOf, $defs } = schema
  const below = (keyword: string, name?: string | number): Place => ({
    at: name === undefined ? pointerTo(place.at, keyword) : pointerTo(pointerTo(place.at, keyword), name),
    level: keyword === 'properties' || keyword === 'items' ? place.level + 1 : place.level,
  })
  if (isKeywords(properties))
    for (const [name, each] of Object.entries(properties)) walk(each, below('properties', name), visit)
  walk(items, below('items'), visit)
  if (Array.isArray(anyOf))
    for (const [index, each] of anyOf.entries()) walk(each, below('anyOf', index), visit)
  if (isKeywords($defs))
    for (const [name, each] of Object.entries($defs)) walk(each, below('$defs', name), visit)
}

function addUp({ properties, $defs, enum: values, ...schema }: Keywords, sum: Sum): void {
  for (const named of [properties, $defs]) {
    if (!isKeywords(named)) continue
    sum.text += textLength(Object.keys(named))
    if (named === properties) sum.properties += Object.keys(named).length
  }
  if ('const' in schema) sum.text += textLength([schema['const']])
  if (!Array.isArray(values)) return
  sum.enumValues += values.length
  sum.text += textLength(values)
}

function textLength(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}

function refersToItself(reference: string, root: Keywords): boolean {
  const resolve = createResolver(root)
  const seen = new Set<string>()
  const open = [reference]
  while (open.length > 0) {
    const found: string[] = []
    walk(resolve(open.pop() ?? ''), { at: '', level: 0 }, ({ $ref }) => {
      if (typeof $ref === 'string') found.push($ref)
    })
    for (const each of found) {
      if (each === reference) return true
      if (!seen.has(each)) open.push(each)
      seen.add(each)
    }
  }
  return false
}
