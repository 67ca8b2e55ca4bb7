import type { JsonSchema } from '../../contract/base/schema.ts'
import { allowedValues, refuseKind, refuseValue } from '../compile/compile-schema.ts'
import { compileNumber } from '../compile/compile-number.ts'
import { compileString } from '../compile/compile-string.ts'
import { kindOf, kindsOf } from '../base/json-kind.ts'
import { OutOfSteps, type FullSchema, type Rule } from './rule.ts'

/** What a schema says of a value without looking into it. */
export function compileValue(given: FullSchema): Rule {
  // Keywords with schemas in them are not looked at here.
  const schema = given as JsonSchema
  const allowed = kindsOf(schema)
  const values = allowedValues(schema)
  const checkString = compileString(schema)
  const checkNumber = compileNumber(schema)
  return (value, { run }) => {
    if ((kindOf(value) & allowed) === 0) return void refuseKind(value, schema, run)
    if (typeof value === 'string') checkString?.(value, run)
    else if (typeof value === 'number') checkNumber?.(value, run)
    // A pattern that could not be matched to its end must not count as one that does not match.
    if (run.steps < 0) throw new OutOfSteps()
    if (values !== undefined && values.get(value) !== true) refuseValue(value, schema, run)
  }
}
