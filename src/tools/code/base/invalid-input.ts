import { ToolFailure } from '../../../contract/base/errors.ts'

/** The failure for an input that its schema lets through and that still cannot be meant. */
export function invalidInput(message: string): ToolFailure {
  return new ToolFailure({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input', message })
}

/** Refuses text that UTF-8 cannot carry: half of a surrogate pair would be written as another character. */
export function requireWellFormed(text: string, field: string): string {
  if (text.isWellFormed()) return text
  throw invalidInput(
    `"${field}" has half of a surrogate pair, which no file in UTF-8 can hold. Send the whole character.`,
  )
}
