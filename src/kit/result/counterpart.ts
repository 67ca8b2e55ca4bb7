import type { Counterpart } from '../../contract/base/counterpart.ts'
import { isPlainObject } from '../json/is-plain-object.ts'

/** Letters of each field: what another side says of itself is not to fill the evidence. */
const longest = 1_024

/** Whether something names the record of a call at another side. */
export function isCounterpart(given: unknown): given is Counterpart {
  if (!isPlainObject(given)) return false
  const { domain, call, record, key } = given
  return [domain, call].every(isText) && [record, key].every((each) => each === undefined || isText(each))
}

/** A copy with what belongs there, and no more. */
export function toCounterpart({ domain, call, record, key }: Counterpart): Counterpart {
  return {
    domain: domain.slice(0, longest),
    call: call.slice(0, longest),
    ...(record !== undefined && { record: record.slice(0, longest) }),
    ...(key !== undefined && { key: key.slice(0, longest) }),
  }
}

function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== ''
}
