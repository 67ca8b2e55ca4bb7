import type { JsonSchema } from '../../contract/base/schema.ts'
import { count, quote } from '../base/describe.ts'
import { compilePattern } from '../pattern/compile-pattern.ts'
import { report, type Run } from '../base/run.ts'

/** Checks a string's length (in code points) and pattern; undefined if the schema says nothing about them. */
export function compileString(schema: JsonSchema): ((text: string, run: Run) => void) | undefined {
  const checkLength = compileLength(schema)
  const checkPattern = schema.pattern === undefined ? undefined : compilePatternCheck(schema.pattern)
  if (checkPattern === undefined) return checkLength
  if (checkLength === undefined) return checkPattern
  return (text, run) => {
    checkLength(text, run)
    checkPattern(text, run)
  }
}

function compileLength(schema: JsonSchema): ((text: string, run: Run) => void) | undefined {
  const { minLength: min = 0, maxLength: max = Infinity } = schema
  if (min === 0 && max === Infinity) return undefined
  return (text, run) => {
    // A character takes one or two units, so that most texts need no counting.
    if (text.length <= max && text.length >= min * 2) return
    const length = countCodePoints(text)
    if (length < min)
      report(run, 'too_short', {
        message: () => `Found ${count(length, 'character')}; give at least ${min}.`,
      })
    if (length > max)
      report(run, 'too_long', { message: () => `Found ${count(length, 'character')}; give at most ${max}.` })
  }
}

function countCodePoints(text: string): number {
  let length = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) length++
  return length
}

function compilePatternCheck(source: string): (text: string, run: Run) => void {
  const pattern = compilePattern(source)
  return (text, run) => {
    const matched = pattern.test(text, run)
    if (matched === false)
      report(run, 'pattern_mismatch', {
        message: () => `${quote(text)} does not match the pattern ${source}`,
      })
    if (matched === undefined)
      report(run, 'too_large', {
        message: () => `Found ${count(text.length, 'character')}, too many for the pattern ${source}`,
      })
  }
}
