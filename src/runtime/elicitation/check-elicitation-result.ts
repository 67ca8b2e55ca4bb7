import type { ElicitationResult, ElicitationParams } from '../../contract/base/elicitation.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { toAnswerSchema } from './read-form.ts'
import { maxSamplingSize } from './read-elicitation.ts'

/** The answer as the asker gets it; undefined if it does not fit what was asked. */
export function checkElicitationResult(
  answer: unknown,
  matter: ElicitationParams,
  checker: SchemaChecker,
): ElicitationResult | undefined {
  if (!isPlainObject(answer)) return undefined
  const { action, content } = answer
  if (action === 'decline' || action === 'cancel') return { action }
  if (action !== 'accept') return undefined
  if (matter.mode === 'url') return { action }
  const checked = matter.mode === 'form' ? checkForm(content ?? {}, matter, checker) : checkMessage(content)
  return checked && { action, content: checked }
}

/** Only what was asked goes back; what was left out gets its default. */
function checkForm(
  content: unknown,
  { schema }: Extract<ElicitationParams, { mode: 'form' }>,
  checker: SchemaChecker,
): JsonObject | undefined {
  if (!isPlainObject(content)) return undefined
  const asked = Object.entries(content).filter(
    ([name, value]) => Object.hasOwn(schema.properties, name) && value !== undefined,
  )
  const checked = checker.check(toAnswerSchema(schema), Object.fromEntries(asked))
  return checked.ok && isJsonObject(checked.value) ? checked.value : undefined
}

/** A message as `sampling/createMessage` returns it. */
function checkMessage(content: unknown): JsonObject | undefined {
  if (!isJsonObject(content) || jsonSize(content) > maxSamplingSize) return undefined
  const { role, content: said, model } = content
  const fits =
    (role === 'assistant' || role === 'user') &&
    typeof model === 'string' &&
    (isPlainObject(said) || Array.isArray(said))
  return fits ? content : undefined
}
