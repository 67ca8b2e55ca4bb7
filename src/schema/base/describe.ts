import type { JsonSchema, JsonType } from '../../contract/base/schema.ts'
import { kindOf } from './json-kind.ts'
import { typesOf } from './json-kind.ts'

const maxText = 60
const maxNames = 12

const typeWords: Record<JsonType, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'null',
  object: 'an object',
  array: 'an array',
}

/** A value in words, shortened: `the string "abc"`, `an array of 3 items`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${quote(value)}`
    case 'number':
      return `the number ${value}`
    case 'boolean':
      return String(value)
    case 'object':
      return describeObject(value)
    case 'undefined':
      return 'undefined'
    default:
      return `a ${typeof value}`
  }
}

function describeObject(value: object | null): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${count(value.length, 'item')}`
  return kindOf(value) === 0 ? 'an object of a class' : 'an object'
}

/** What a schema wants, in words: `"a", "b" or "c"`, `a string or null`. */
export function describeSchema(schema: JsonSchema): string {
  if (Object.hasOwn(schema, 'const')) return showJson(schema.const)
  if (schema.enum !== undefined) return listNames(schema.enum.slice(0, maxNames + 1).map(showJson), 'or')
  const types = typesOf(schema.type).map((type) => typeWords[type])
  if (types.length > 0 && schema.nullable === true) types.push(typeWords.null)
  return types.length === 0 ? 'a JSON value' : listNames(types, 'or')
}

/** A JSON value as text, shortened. */
export function showJson(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return String(value)
  return shorten(JSON.stringify(value) ?? 'undefined')
}

/** Text in quotes, shortened. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

/** `a, b or c`; long lists end with "…". */
export function listNames(names: readonly string[], word: 'and' | 'or'): string {
  if (names.length > maxNames) return `${names.slice(0, maxNames).join(', ')}, …`
  if (names.length < 2) return names.join('')
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

/** `1 item`, `2 items`. */
export function count(amount: number, noun: string): string {
  if (amount === 1) return `1 ${noun}`
  return noun.endsWith('y') ? `${amount} ${noun.slice(0, -1)}ies` : `${amount} ${noun}s`
}

function shorten(text: string): string {
  if (text.length <= maxText) return text
  // Not between the halves of one character.
  const end = /[\uD800-\uDBFF]/.test(text[maxText - 1] ?? '') ? maxText - 1 : maxText
  return `${text.slice(0, end)}…`
}
