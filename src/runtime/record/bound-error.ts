import type { CallError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { shortenText } from '../output/shorten-text.ts'

/** What is said of an error of a tool that did not run, within these bytes: nothing of it is kept elsewhere. */
export function boundError(error: CallError, maxBytes: number): CallError {
  const { message, issues, data } = error
  if (message.length + jsonSize(issues) + jsonSize(data) <= maxBytes) return error
  const share = Math.floor(maxBytes / 3)
  const bounded: CallError = {
    ...error,
    message: shortenText(message, { maxBytes: share, whole: 'the rest is not kept' }).text,
  }
  if (issues !== undefined) bounded.issues = firstOf(issues, share)
  if (jsonSize(data) > share) bounded.data = { leftOutBytes: jsonSize(data) }
  return bounded
}

/** The first ones that fit, and how many there are beside. */
function firstOf(issues: readonly Issue[], maxBytes: number): readonly Issue[] {
  let size = 0
  const end = issues.findIndex((issue) => (size += jsonSize(issue)) > maxBytes)
  if (end === -1) return issues
  const more = { pointer: '', code: 'more_issues', message: `And ${issues.length - end} more issues.` }
  return [...issues.slice(0, end), more]
}
