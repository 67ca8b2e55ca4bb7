import { ToolFailure } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Treatment } from '../../contract/obligations.ts'
import { callError } from '../../kit/call-error.ts'
import { canonicalJson } from '../../kit/canonical-json.ts'
import { digest } from '../../kit/digest.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import { pass, stop, type CheckedInput, type Found, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { treatmentOf } from '../treatments.ts'
import { describeFaults } from './find.ts'

/** Step 2: the input fits its schema and size. What a model got slightly wrong is repaired where that loses nothing. */
export function checkInput(found: Found, road: Road): CheckedInput | Stopped {
  const { definition, tool } = found.registered
  const { ground } = road
  const checked = ground.checker.check(definition.inputSchema, found.asked, {
    repair: found.call.origin === 'llm',
  })
  const treatment = treatmentOf(found.registered, road)
  if (!checked.ok) {
    const faults = treatment?.faults(checked.faults, 'input') ?? checked.faults
    return stop(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: describeFaults(definition.name, faults),
        faults,
      }),
    )
  }
  if (!isPlainObject(checked.value)) {
    return stop(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: `The input of "${definition.name}" must be a JSON object.`,
      }),
    )
  }
  const input: JsonObject = checked.value
  const rawText = canonicalJson(input)
  const bytesIn = Buffer.byteLength(rawText)
  const limit = Math.min(definition.limits.maxBytesIn, ground.limits.maxBytesIn)
  if (bytesIn > limit) {
    return stop(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'input_too_large', {
        message: `The input of "${definition.name}" has ${bytesIn} bytes; it may have ${limit}. Send less.`,
      }),
    )
  }
  let decoded: unknown = input
  if (tool.decode !== undefined) {
    try {
      decoded = tool.decode(input)
    } catch (error) {
      return stop('check-input', found, toDecodeError(definition.name, error, treatment))
    }
  }
  const text = ground.redactor.text(rawText)
  const inputDigest = digest(text)
  const inputText =
    treatment === undefined ? text : ground.redactor.text(canonicalJson(treatment.input(input)))
  return pass<CheckedInput>(found, {
    input,
    decoded,
    repairs: checked.repairs,
    inputText,
    textDigest: inputText === text ? inputDigest : digest(inputText),
    inputDigest,
    bytesIn,
  })
}

function toDecodeError(tool: string, error: unknown, treatment: Treatment | undefined) {
  if (error instanceof ToolFailure && error.code !== 'TOOL.FAILED') {
    const faults = error.faults && (treatment?.faults(error.faults, 'input') ?? error.faults)
    const message = faults === undefined ? error.message : describeFaults(tool, faults)
    return callError(error.code, error.reason, { message, ...(faults !== undefined && { faults }) })
  }
  const message = error instanceof Error ? error.message : String(error)
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
    message: `The input does not fit "${tool}": ${message}`,
  })
}
