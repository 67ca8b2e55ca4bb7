import { origins } from '../../../contract/base/call.ts'
import type { CallRequest } from '../../../contract/call-request.ts'
import type { CallError } from '../../../contract/base/errors.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { findModelIssues } from '../../../kit/find-model-issues.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { isIssue, toJson } from '../../../kit/json/to-json.ts'

/** Stands for the input of a call that can go nowhere. */
export class MalformedCall {
  readonly error: CallError
  constructor(error: CallError) {
    this.error = error
  }
}

/** The input of a call as Handrail's own: a copy, so that its caller may change theirs as they like. Text stays text. */
export function takeInput(request: CallRequest): unknown {
  const { input, origin, presentation, model } = request
  const issue =
    findStray(request) ??
    findUnknown('origin', origin, origins) ??
    findUnknown('presentation', presentation, presentations) ??
    findNoModel(model) ??
    findOtherKind(request)
  if (issue !== undefined) return issue
  if (typeof input !== 'object' || input === null) return input
  const copied = toJson(input)
  if (!isIssue(copied)) return copied.json
  const { pointer, message } = copied
  return new MalformedCall(
    callError('SCHEMA.VALIDATION_FAILED', 'invalid_input', {
      message: `The input of the call is not JSON${pointer === '' ? '' : `, at ${pointer}`}: ${message}`,
      issues: [copied],
    }),
  )
}

/** All that a call may say. */
const fields: { readonly [field in keyof Required<CallRequest>]: true } = {
  tool: true,
  input: true,
  id: true,
  presentation: true,
  origin: true,
  idempotencyKey: true,
  consent: true,
  model: true,
  trace: true,
  counterpart: true,
  rawName: true,
  signal: true,
  approve: true,
  elicit: true,
  onProgress: true,
  caller: true,
  follow: true,
}

/** A call that says more than it may, such as a key under a misspelt name, would run otherwise than it says. */
function findStray(request: CallRequest): MalformedCall | undefined {
  for (const field in request) {
    if (Object.hasOwn(fields, field)) continue
    const [nearest] = nearestNames(field, Object.keys(fields), 1)
    const advice = nearest === undefined ? 'Take it out.' : `Did you mean "${nearest}"?`
    return new MalformedCall(
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: `A call has no option "${field.slice(0, 80)}". ${advice} Nothing was done.`,
      }),
    )
  }
  return undefined
}

const presentations: readonly string[] = ['canonical', 'compatible']

function findUnknown(
  option: string,
  given: string | undefined,
  known: readonly string[],
): MalformedCall | undefined {
  if (given === undefined || known.includes(given)) return undefined
  const names = known.map((each) => `"${each}"`).join(', ')
  return new MalformedCall(
    callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
      message: `The call has the ${option} ${JSON.stringify(String(given).slice(0, 80))}; it is one of ${names}.`,
    }),
  )
}

function findNoModel(model: unknown): MalformedCall | undefined {
  if (model === undefined) return undefined
  const issues = findModelIssues(model)
  const [issue] = issues
  if (issue === undefined) return undefined
  return new MalformedCall(
    callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
      message: `The model of the call is not one, at ${issue.pointer}: ${issue.message} Nothing was done.`,
      issues,
    }),
  )
}

/** A call that names who is asked or what aborts it, in a way that does neither, would run without them. */
function findOtherKind(request: CallRequest): MalformedCall | undefined {
  for (const option of ['approve', 'elicit', 'onProgress'] as const)
    if (request[option] !== undefined && typeof request[option] !== 'function')
      return otherKind(option, 'a function')
  const { signal } = request
  // One of another realm is one too.
  return signal === undefined || typeof Object(signal).aborted === 'boolean'
    ? undefined
    : otherKind('signal', 'an AbortSignal')
}

function otherKind(option: string, kind: string): MalformedCall {
  return new MalformedCall(
    callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
      message: `The option "${option}" of the call is not ${kind}. Nothing was done.`,
    }),
  )
}
