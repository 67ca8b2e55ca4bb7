import { ToolFailure } from '../contract/base/errors.ts'
import type { Json, JsonObject } from '../contract/base/json.ts'

/** An argument of a command, as its file means it. */
export type Argument =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'option'; readonly option: string; readonly field: string }

const template = /^\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}$/
/** What an author who means a template would write; other text in braces, such as `{{.Names}}`, is text. */
const anyTemplate = /\{\{\s*[A-Za-z_][A-Za-z0-9_-]*\s*\}\}/

/** The field that a whole argument stands for; undefined for any other text. */
export function fieldOf(argument: string): string | undefined {
  return template.exec(argument)?.[1]
}

/** Whether a text has a template in it and is more than that. */
export function joinsTemplate(text: string): boolean {
  return fieldOf(text) === undefined && anyTemplate.test(text)
}

/** Reads the arguments of a file that has no issue. */
export function toArguments(args: readonly (string | readonly [string, string])[]): Argument[] {
  return args.map((argument): Argument => {
    if (typeof argument !== 'string') {
      const [option, value] = argument
      return { kind: 'option', option, field: fieldOf(value) ?? '' }
    }
    const field = fieldOf(argument)
    return field === undefined ? { kind: 'literal', text: argument } : { kind: 'field', field }
  })
}

/**
 * The arguments of a call: each value of the input as it is in a place of its own, never joined with anything. Fails with `argv_flag`
 * where a value begins with `-` and could pass for an option: before `--`, and not as the declared value of one.
 */
export function fillArguments(
  args: readonly Argument[],
  input: JsonObject,
  type: 'exec' | 'shell',
): string[] {
  let mayDash = false
  return args.flatMap((argument): string[] => {
    if (argument.kind === 'literal') {
      mayDash ||= type === 'exec' && argument.text === '--'
      return [argument.text]
    }
    const value = Object.hasOwn(input, argument.field) ? input[argument.field] : undefined
    if (argument.kind === 'option')
      return value === undefined ? [] : [argument.option, toText(value, argument.field)]
    const text = toText(value, argument.field)
    if (text.startsWith('-') && !mayDash) throw looksLikeOption(argument.field, text)
    return [text]
  })
}

function toText(value: Json | undefined, field: string): string {
  if (typeof value === 'string') return requireArgument(value, field)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error(`The field "${field}" is not a text, number or boolean; its schema should have told.`)
}

/** Why a text cannot be an argument, as what it has; undefined if it can. */
export function findTextFlaw(text: string): string | undefined {
  if (text.includes('\0')) return 'a NUL character, which no argument can carry'
  return text.isWellFormed() ? undefined : 'half a surrogate pair, which is not text'
}

function requireArgument(text: string, field: string): string {
  const flaw = findTextFlaw(text)
  if (flaw === undefined) return text
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: `"${field}" has ${flaw}. Leave it out.`,
    issues: [{ pointer: `/${field}`, code: 'invalid_text', message: `It has ${flaw}.` }],
  })
}

function looksLikeOption(field: string, text: string): ToolFailure {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'argv_flag',
    message: `"${field}" is ${JSON.stringify(shown)}, which the program would take for an option; nothing was run. Give a value that does not begin with "-"; a path can begin with "./".`,
    data: { field },
  })
}
