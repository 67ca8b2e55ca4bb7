import { readFileSync } from 'node:fs'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { describeJsonIssue } from '../../kit/json/describe-json-issue.ts'
import { decodeUtf8 } from '../../kit/text/decode-utf8.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** The input of a call as it was typed: whole, or field by field, whose values are read by what the tool takes. */
export type TypedInput = { readonly whole: unknown } | { readonly fields: ReadonlyMap<string, string[]> }

/** How help shows it. */
export const inputUsage = "[<field>=<value> … | '<json>' | @<file> | -]"

/** What help says of the values. */
export const aboutValues =
  'A field that takes a list may be given once for each item. <field>=@<file> takes the value from a file, <field>=@- from standard input, and @@ stands for an @ at the start of a value.'

/** Reads what follows the name of a tool: fields, the JSON text of an object, `@` and a file that holds it, or `-` for standard input. */
export async function readInput(words: readonly string[]): Promise<TypedInput> {
  const [first, extra] = words
  if (first === undefined) return { whole: {} }
  const isWhole = first === '-' || /^[@[{"]/.test(first) || isJson(first)
  if (!isWhole) return { fields: await readFields(words) }
  if (extra !== undefined)
    throw new UsageError(
      `"${showLine(extra)}" is one argument too many; put JSON in single quotes, so that the shell leaves it alone.`,
    )
  if (first === '-') return { whole: parse(await readStandardInput(), 'Standard input') }
  if (first.startsWith('@')) return { whole: parse(readText(first.slice(1)), `"${first.slice(1)}"`) }
  return { whole: parse(first, 'The input') }
}

/** Whether standard input is the input, or the value of a field. */
export function takesStandardInput(words: readonly string[]): boolean {
  return words[0] === '-' || words.some((word) => /^[^=]+=@-$/.test(word))
}

/** The input for a tool that takes this. */
export function toInput(typed: TypedInput, findSchema: () => JsonSchema | undefined): unknown {
  if ('whole' in typed) return typed.whole
  const { properties = {} } = findSchema() ?? {}
  return Object.fromEntries(
    [...typed.fields].map(([name, texts]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, toValue(name, texts, field)]
    }),
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function readStandardInput(): Promise<string> {
  const { buffer } = process.getBuiltinModule('node:stream/consumers')
  return toText(await buffer(process.stdin), 'Standard input')
}

function readText(path: string): string {
  const shown = `The file "${showLine(path)}"`
  try {
    return toText(readFileSync(path), shown)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${shown} cannot be read: ${describeFileError(error)}.`)
  }
}

function toText(bytes: Buffer, shown: string): string {
  const decoded = decodeUtf8(bytes)
  if ('issue' in decoded) throw new UsageError(`${shown} cannot be used. ${decoded.issue}`)
  return decoded.text
}

const howTo = `Write <field>=<value>, or one JSON object in single quotes so that the shell leaves it alone.`

function parse(text: string, what: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError(`${showLine(what)} is not valid JSON at ${describeJsonIssue(text)}. ${howTo}`)
  }
  if (isPlainObject(value)) return value
  throw new UsageError(`${showLine(what)} is JSON, but not an object. ${howTo}`)
}

async function readFields(words: readonly string[]): Promise<Map<string, string[]>> {
  if (words.filter((word) => takesStandardInput([word])).length > 1)
    throw new UsageError('Standard input is the value of one field only; write the others to a file.')
  const fields = new Map<string, string[]>()
  for (const word of words) {
    const end = word.indexOf('=')
    if (end < 1) throw new UsageError(`"${showLine(word.slice(0, 100))}" is not <field>=<value>. ${howTo}`)
    const name = word.slice(0, end)
    fields.set(name, [...(fields.get(name) ?? []), await readTyped(name, word.slice(end + 1))])
  }
  return fields
}

/** A value as it is typed, or what the file has that it names. */
async function readTyped(name: string, text: string): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1)
  if (!text.startsWith('@')) return text
  try {
    return await (text === '@-' ? readStandardInput() : readText(text.slice(1)))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const literal = `${name}=@${text}`.slice(0, 100)
    throw new UsageError(
      `"${showLine(name)}": ${error.message} If that was meant as text, write ${showLine(literal)}`,
    )
  }
}

/** A field that takes a list may be given once for each item. */
function toValue(name: string, texts: readonly string[], schema: JsonSchema | undefined): unknown {
  const [text = '', ...more] = texts
  const takesList = typesOf(schema).includes('array')
  if (takesList && (more.length > 0 || !text.startsWith('[')))
    return texts.map((each) => readValue(each, schema?.items))
  if (more.length > 0) throw new UsageError(`"${showLine(name)}" is given twice, and takes one value.`)
  return readValue(text, schema)
}

/** A field that takes text has it as it is; any other has what it is as JSON, if it is any: the check of the input says what is wrong. */
function readValue(text: string, schema: JsonSchema | undefined): unknown {
  const types = typesOf(schema)
  if (types.length === 1 && types[0] === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function typesOf(schema: JsonSchema | undefined): readonly string[] {
  if (schema?.type === undefined)
    return schema?.enum?.every((value) => typeof value === 'string') === true ? ['string'] : []
  return typeof schema.type === 'string' ? [schema.type] : schema.type
}
