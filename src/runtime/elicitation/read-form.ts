import type { FormChoice, FormField, FormSchema } from '../../contract/base/elicitation.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { formChoices } from '../../kit/form-choices.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** How the words of a form are made fit to be read. */
export type ToWords = (text: string, most: number) => string

const maxFields = 64
const maxChoices = 500
const maxName = 128
const maxValue = 1_000
const maxTitle = 200
const maxDescription = 1_000

/**
 * A form as a person may see it, made anew of the words that forms have, so that nothing else of it comes through: no reference, no
 * nesting, no name or value with invisible characters. Undefined if what is asked is not such a form.
 */
export function readForm(raw: unknown, words: ToWords): FormSchema | undefined {
  if (!isPlainObject(raw) || !isPlainObject(raw['properties'])) return undefined
  const entries = Object.entries(raw['properties'])
  if (entries.length > maxFields) return undefined
  const fields: [string, FormField][] = []
  for (const [name, given] of entries) {
    const field = isExact(name, maxName) ? readField(given, words) : undefined
    if (field === undefined) return undefined
    fields.push([name, field])
  }
  const wanted: unknown[] = Array.isArray(raw['required']) ? raw['required'] : []
  const required = fields.map(([name]) => name).filter((name) => wanted.includes(name))
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(required.length > 0 && { required }),
  }
}

/** Of a field, what an answer is held against beside its choices. */
const answerRules = [
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'default',
]

/** What an answer to the form is held against. */
export function toAnswerSchema({ properties, required = [] }: FormSchema): JsonSchema {
  const fields = Object.entries(properties).map(([name, field]): [string, JsonSchema] => {
    const { type } = field
    const rules = pick(field, answerRules)
    const choices = formChoices(field)?.map((choice) => choice.const)
    if (type === 'array') return [name, { type, ...rules, items: { type: 'string', enum: choices ?? [] } }]
    return [name, { type, ...rules, ...(choices !== undefined && { enum: choices }) }]
  })
  return { type: 'object', properties: Object.fromEntries(fields), required }
}

function readField(raw: unknown, words: ToWords): FormField | undefined {
  if (!isPlainObject(raw)) return undefined
  const rules = readRules(raw, words)
  if (rules === undefined) return undefined
  const { title, description } = raw
  // That each rule holds what it should is seen when the schema of the answer is inspected.
  const field = {
    type: raw['type'],
    ...(typeof title === 'string' && { title: words(title, maxTitle) }),
    ...(typeof description === 'string' && { description: words(description, maxDescription) }),
    ...rules,
  } as FormField
  return areExact(field.default) ? field : undefined
}

const formats: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

function readRules(raw: Record<string, unknown>, words: ToWords): object | undefined {
  switch (raw['type']) {
    case 'boolean':
      return pick(raw, ['default'])
    case 'number':
    case 'integer':
      return pick(raw, ['minimum', 'maximum', 'default'])
    case 'array':
      return readManyOf(raw, words)
    case 'string':
      if (raw['enum'] !== undefined || raw['oneOf'] !== undefined) return readOneOf(raw, words)
      return {
        ...pick(raw, ['minLength', 'maxLength', 'default']),
        ...(isExact(raw['pattern'], maxValue) && { pattern: raw['pattern'] }),
        ...(formats.includes(raw['format']) && { format: raw['format'] }),
      }
    default:
      return undefined
  }
}

function readOneOf(raw: Record<string, unknown>, words: ToWords): object | undefined {
  if (raw['oneOf'] !== undefined) {
    const oneOf = readChoices(raw['oneOf'], words)
    return oneOf && { oneOf, ...pick(raw, ['default']) }
  }
  const values = readValues(raw['enum'])
  if (values === undefined) return undefined
  const names: unknown = raw['enumNames']
  const enumNames =
    Array.isArray(names) && names.length === values.length
      ? names.map((name) => words(String(name), maxTitle))
      : undefined
  return { enum: values, ...(enumNames !== undefined && { enumNames }), ...pick(raw, ['default']) }
}

function readManyOf(raw: Record<string, unknown>, words: ToWords): object | undefined {
  const items = isPlainObject(raw['items']) ? raw['items'] : {}
  const anyOf = readChoices(items['anyOf'], words)
  const values = readValues(items['enum'])
  if (anyOf === undefined && values === undefined) return undefined
  return {
    items: anyOf === undefined ? { type: 'string', enum: values } : { anyOf },
    ...pick(raw, ['minItems', 'maxItems', 'default']),
  }
}

function readValues(raw: unknown): string[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > maxChoices) return undefined
  const values = raw.filter((value) => isExact(value, maxValue))
  return values.length === raw.length ? values : undefined
}

function readChoices(raw: unknown, words: ToWords): FormChoice[] | undefined {
  if (!Array.isArray(raw)) return undefined
  const values = readValues(raw.map((each) => (isPlainObject(each) ? each['const'] : undefined)))
  return values?.map((value, index) => {
    const title: unknown = Object(raw[index]).title
    return { const: value, title: typeof title === 'string' ? words(title, maxTitle) : value }
  })
}

function pick(raw: object, names: readonly string[]): JsonObject {
  // Messages are read as JSON.
  return Object.fromEntries(Object.entries(raw).filter(([name]) => names.includes(name))) as JsonObject
}

/** Names and values have to stay as they are, so that one that shows itself as another is none. */
function isExact(text: unknown, most: number): text is string {
  return typeof text === 'string' && text.length <= most && dropInvisible(text) === text
}

function areExact(value: FormField['default']): boolean {
  const texts: readonly unknown[] = typeof value === 'object' ? value : [value]
  return texts.every((text) => typeof text !== 'string' || isExact(text, maxValue))
}
