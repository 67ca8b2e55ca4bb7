import type { JsonSchema } from '../../contract/base/schema.ts'
import { allowedValues, refuseKind, refuseValue } from '../compile/compile-schema.ts'
import { compileNumber } from '../compile/compile-number.ts'
import { compileString } from '../compile/compile-string.ts'
import { kindOf, kinds, kindsOf } from '../base/json-kind.ts'
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
    const kind = kindOf(value)
    if ((kind & allowed) === 0) return void refuseKind(value, schema, run)
    // The kind vouches for the type.
    if (kind === kinds.string) checkString?.(value as string, run)
    else if ((kind & kinds.number) !== 0) checkNumber?.(value as number, run)
    // A pattern that could not be matched to its end must not count as one that does not match.
    if (run.steps < 0) throw new OutOfSteps()
    if (values !== undefined && values.get(value) !== true) refuseValue(value, schema, run)
  }
}
