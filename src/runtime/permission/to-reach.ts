import type { AskedReach } from '../../contract/pending-approval.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { toParents } from '../record/begin-record.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Hooked } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** More letters than these are not kept with a question: every process on the store has it in memory. */
const mostLetters = 16 * 1024

/** What a call that waits would reach, as the evidence will have it; undefined if that is too much to be kept. */
export function toReach(hooked: Hooked, scope: CallScope): AskedReach | undefined {
  const { registered, plan, shownText, saidText } = hooked
  const { session } = scope
  const redactor = redactorOf(registered, scope)
  const operations = redactor.json(plan.operations)
  const input = operations.length > 0 ? undefined : readInput(shownText)
  const reach: AskedReach = {
    definition: `${registered.definition.version} ${registered.digest}`,
    mode: session.mode,
    ...(session.ancestors !== undefined && { parents: toParents(session) }),
    operations,
    ...(input !== undefined && { input }),
    hides: { input: shownText !== saidText, operations: operations !== plan.operations },
  }
  return JSON.stringify(reach).length > mostLetters ? undefined : reach
}

function readInput(text: string): AskedReach['input'] {
  const input = parseJson(text)
  return isJsonObject(input) ? input : undefined
}
