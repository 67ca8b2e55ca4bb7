import type { CallError } from '../../contract/base/errors.ts'
import type { Fault } from '../../contract/base/json.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { shortenText } from '../output/shorten-text.ts'

/** What is said of an error of a tool that did not run, within these bytes: nothing of it is kept elsewhere. */
export function boundError(error: CallError, maxBytes: number): CallError {
  const { message, faults, data } = error
  if (message.length + jsonSize(faults) + jsonSize(data) <= maxBytes) return error
  const share = Math.floor(maxBytes / 3)
  const bounded: CallError = {
    ...error,
    message: shortenText(message, { maxBytes: share, whole: 'the rest is not kept' }).text,
  }
  if (faults !== undefined) bounded.faults = firstOf(faults, share)
  if (jsonSize(data) > share) bounded.data = { leftOutBytes: jsonSize(data) }
  return bounded
}

/** The first ones that fit, and how many there are beside. */
function firstOf(faults: readonly Fault[], maxBytes: number): readonly Fault[] {
  let size = 0
  const end = faults.findIndex((fault) => (size += jsonSize(fault)) > maxBytes)
  if (end === -1) return faults
  const more = { pointer: '', code: 'more_faults', message: `And ${faults.length - end} more faults.` }
  return [...faults.slice(0, end), more]
}
