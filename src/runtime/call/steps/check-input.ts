import type { JsonObject } from '../../../contract/base/json.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { digest } from '../../../kit/json/digest.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { advance } from '../../state/advance.ts'
import { halt, type CheckedInput, type Found, type Halted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { readKey } from './read-key.ts'
import { describeIssues, toDecodeError } from './to-decode-error.ts'
import { treatmentOf } from '../../record/treatments.ts'

/**
 * Step 2: the input fits its schema and size, and the call has an idempotency key if its tool wants one. What a model got slightly
 * wrong is repaired if that loses nothing.
 */
export function checkInput(found: Found, scope: CallScope): CheckedInput | Halted {
  const { definition, tool } = found.registered
  const { tenant } = scope
  const checked = tenant.checker.check(definition.inputSchema, found.asked, {
    repair: found.call.origin === 'llm',
  })
  const treatment = treatmentOf(found.registered, scope)
  if (!checked.ok) {
    const issues = treatment?.issues(checked.issues, 'input') ?? checked.issues
    return halt(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: describeIssues(definition.name, issues),
        issues,
      }),
    )
  }
  if (!isPlainObject(checked.value)) {
    return halt(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
        message: `The input of "${definition.name}" must be a JSON object.`,
      }),
    )
  }
  const input: JsonObject = checked.value
  const saidText = canonicalJson(input)
  const bytesIn = Buffer.byteLength(saidText)
  const limit = Math.min(definition.limits.maxBytesIn, tenant.limits.maxBytesIn)
  if (bytesIn > limit) {
    return halt(
      'check-input',
      found,
      callError('SCHEMA.VALIDATION_FAILED', 'input_too_large', {
        message: `The input of "${definition.name}" has ${bytesIn} bytes; it may have ${limit}. Send less.`,
      }),
    )
  }
  // The tool may change what it is given; what the call stands on, and what is told of it, stays.
  const own = copyJson(input)
  let decoded: unknown = own
  if (tool.decode !== undefined) {
    try {
      decoded = tool.decode(own)
    } catch (error) {
      return halt('check-input', found, toDecodeError(definition.name, error, treatment))
    }
  }
  const key = readKey(found, input, scope)
  if (key !== undefined && 'code' in key) return halt('check-input', found, key)
  const shownText = tenant.redactor.text(
    treatment === undefined ? saidText : canonicalJson(treatment.input(input)),
  )
  return advance['check-input'](found, {
    input,
    decoded,
    repairs: checked.repairs,
    saidText,
    saidDigest: undefined,
    shownText,
    shownDigest: digest(shownText),
    bytesIn,
    key,
    repeat: undefined,
  })
}
