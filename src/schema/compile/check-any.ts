import { isObject } from '../../kit/json/is-object.ts'
import { describeValue, quote } from '../base/describe.ts'
import { kindOf } from '../base/json-kind.ts'
import { enter, report, type Run } from '../base/run.ts'

/** Checks a value that no schema describes: it must be JSON, not too deep, and free of `__proto__`. */
export function checkAny(value: unknown, run: Run): unknown {
  if (kindOf(value) === 0) reportNotJson(value, run)
  else if (Array.isArray(value)) checkItems(value, run)
  else if (isObject(value)) checkMembers(value, run)
  return value
}

/** Reports a value that JSON cannot carry. */
export function reportNotJson(value: unknown, run: Run): void {
  report(run, 'not_json', { message: () => `Found ${describeValue(value)}, which JSON cannot carry.` })
}

/** Reports a key that could reach a prototype; true when it is one. */
export function refuseKey(key: string, run: Run): boolean {
  if (key !== '__proto__') return false
  report(run, 'forbidden_key', { token: key, message: () => `The key ${quote(key)} is never allowed.` })
  return true
}

function checkItems(items: readonly unknown[], run: Run): void {
  if (!enter(run, items.length)) return
  for (let index = 0; index < items.length && run.values > 0; index++) {
    run.path.push(index)
    checkAny(items[index], run)
    run.path.pop()
  }
}

function checkMembers(members: Record<string, unknown>, run: Run): void {
  const keys = Object.keys(members)
  if (!enter(run, keys.length)) return
  for (const key of keys) {
    if (run.values <= 0) return
    const item = refuseKey(key, run) ? undefined : members[key]
    if (item === undefined) continue
    run.path.push(key)
    checkAny(item, run)
    run.path.pop()
  }
}
