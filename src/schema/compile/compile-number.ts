import type { JsonSchema } from '../../contract/base/schema.ts'
import { isMultipleOf } from '../base/is-multiple-of.ts'
import { report, type Run } from '../base/run.ts'

/** Checks a number's range and step; undefined if the schema says nothing about them. */
export function compileNumber(schema: JsonSchema): ((value: number, run: Run) => void) | undefined {
  const { minimum: min = -Infinity, maximum: max = Infinity, multipleOf } = schema
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity } = schema
  const range = describeRange(schema)
  if (range === '' && multipleOf === undefined) return undefined
  return (value, run) => {
    // Written so that an infinite exclusive bound is not a bound.
    if (value < min || value > max || !(value > above) || !(value < below))
      report(run, 'out_of_range', { message: () => `Found ${value}; give a number ${range}.` })
    if (multipleOf !== undefined && !isMultipleOf(value, multipleOf))
      report(run, 'not_multiple', { message: () => `Found ${value}; give a multiple of ${multipleOf}.` })
  }
}

function describeRange(schema: JsonSchema): string {
  const bounds: string[] = []
  if (schema.minimum !== undefined) bounds.push(`at least ${schema.minimum}`)
  if (schema.exclusiveMinimum !== undefined) bounds.push(`above ${schema.exclusiveMinimum}`)
  if (schema.maximum !== undefined) bounds.push(`at most ${schema.maximum}`)
  if (schema.exclusiveMaximum !== undefined) bounds.push(`below ${schema.exclusiveMaximum}`)
  return bounds.join(' and ')
}
