import type { FormField } from '../../contract/base/elicitation.ts'
import type { Json } from '../../contract/base/json.ts'
import { formChoices } from '../../kit/form-choices.ts'
import { toAnswerSchema } from '../../runtime/elicitation/read-form.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { readWord } from './ask-for-choice.ts'

/** What a typed line means for a field: a value, none, or why it is not an answer. */
export type Typed = { readonly value?: Json | undefined } | { readonly issue: string }

/** Reads a line that a person typed into a field. An empty one leaves the field out. */
export function readTyped(line: string, name: string, field: FormField): Typed {
  const text = line.trim()
  if (text === '') return {}
  const value = toValue(text, field)
  if (value === undefined) return { issue: wantedOf[field.type] }
  const schema = toAnswerSchema({ type: 'object', properties: { [name]: field } })
  const checked = createSchemaChecker().check(schema, { [name]: value })
  return checked.ok ? { value } : { issue: checked.issues.map(({ message }) => message).join(' ') }
}

const wantedOf: { readonly [type in FormField['type']]: string } = {
  string: 'It is none of the choices. Type its number or its name.',
  array: 'One of these is none of the choices. Type their numbers or names, with commas between.',
  number: 'It is not a number.',
  integer: 'It is not a whole number.',
  boolean: 'Type yes or no.',
}

function toValue(text: string, field: FormField): Json | undefined {
  switch (field.type) {
    case 'boolean':
      return toBoolean(text)
    case 'number':
    case 'integer':
      return toNumber(text, field.type)
    case 'array': {
      const chosen = text.split(',').map((part) => choose(part.trim(), field))
      const values = chosen.filter((value) => value !== undefined)
      return values.length === chosen.length ? values : undefined
    }
    case 'string':
      return formChoices(field) === undefined ? text : choose(text, field)
  }
}

function toBoolean(text: string): boolean | undefined {
  if (/^(y|yes|true)$/i.test(text)) return true
  return /^(n|no|false)$/i.test(text) ? false : undefined
}

function toNumber(text: string, type: 'number' | 'integer'): number | undefined {
  const value = Number(text)
  const fits = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
  return fits ? value : undefined
}

/** By its value, its title or its number in the list, in this order; else by the first letters of one alone. */
function choose(text: string, field: FormField): string | undefined {
  const choices = formChoices(field) ?? []
  const found =
    choices.find((choice) => choice.const === text) ??
    choices.find((choice) => choice.title === text) ??
    (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined)
  if (found !== undefined) return found.const
  const words = choices.flatMap(({ const: value, title }) => [
    [value, value] as const,
    [title, value] as const,
  ])
  return readWord(text, words)
}
