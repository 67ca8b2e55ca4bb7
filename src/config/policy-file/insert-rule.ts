import { SetupError } from '../../contract/base/errors.ts'
import type { Rule } from '../../contract/policy.ts'
import { insertAt } from '../../kit/json/edit-json.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { parseJson } from '../../kit/json/parse-json.ts'

/** The text of a policy with one more rule at this place. Comments and the form of all else stay. */
export function insertRule(text: string, place: readonly (string | number)[], rule: Rule): string {
  const changed = insertAt(text.trim() === '' ? '{}\n' : text, [...place], parseJson(JSON.stringify(rule)))
  if ('value' in parseWrittenJson(changed)) return changed
  throw new SetupError(
    'unwritable_file',
    'The rule cannot be put into the text of the policy. Add it by hand.',
  )
}
