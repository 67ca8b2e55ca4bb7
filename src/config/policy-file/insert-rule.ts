import { SetupError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import { hasAt, insertAt } from '../files/edit-json.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'

/** The text of a policy with one more rule at this place, at the end of a list. Comments and the form of all else stay. */
export function insertRule(text: string, place: readonly (string | number)[], rule: object): string {
  const whole = text.trim() === '' ? '{}\n' : text
  // What is missing on the way to the list is put there with the rule in it.
  const there = place.findIndex((_, depth) => !hasAt(whole, place.slice(0, depth + 1)))
  const value = place
    .slice(there + 1)
    .reduceRight<Json>(
      (inner, name) => (typeof name === 'number' ? [inner] : { [name]: inner }),
      parseJson(JSON.stringify(rule)),
    )
  const changed = insertAt(whole, place.slice(0, there + 1), value)
  if ('value' in parseWrittenJson(changed)) return changed
  throw new SetupError(
    'unwritable_file',
    'The rule cannot be put into the text of the policy. Add it by hand.',
  )
}
