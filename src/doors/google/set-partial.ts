import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { textOf } from '../base/message-fields.ts'

type Fields = { [field: string]: unknown }

/**
 * Arguments with one partial argument more, such as `{ jsonPath: '$.days[0].name', stringValue: 'Mon' }`: texts of one path are joined. Source:
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/PartialArg
 */
export function setPartial(args: Fields, partial: Fields): Fields {
  const { jsonPath, stringValue, numberValue, boolValue } = partial
  const path = parsePath(textOf(jsonPath))
  if (path.length === 0) return args
  const value = stringValue ?? numberValue ?? boolValue ?? null
  const set = (target: unknown, [key, ...rest]: readonly (string | number)[]): unknown => {
    if (key === undefined)
      return typeof value === 'string' && typeof target === 'string' ? target + value : value
    if (typeof key === 'number') {
      const list: unknown[] = Array.isArray(target) ? [...target] : []
      // A hole would be an item that the model did not send.
      while (list.length < Math.min(key, maxItems)) list.push(null)
      list[Math.min(key, maxItems)] = set(list[key], rest)
      return list
    }
    const fields = isPlainObject(target) ? target : {}
    const before = Object.hasOwn(fields, key) ? fields[key] : undefined
    return Object.fromEntries([
      ...Object.entries(fields).filter(([name]) => name !== key),
      [key, set(before, rest)],
    ])
  }
  const made = set(args, path)
  return isPlainObject(made) ? made : args
}

/** No index is taken for larger than this. */
const maxItems = 100_000

/** The steps of a path such as `$.a['b c'][0]`; none for a path of another form. */
function parsePath(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  let rest = path.startsWith('$') ? path.slice(1) : `.${path}`
  while (rest !== '') {
    const match = /^(?:\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\])/.exec(rest)
    if (match === null) return []
    const [all, name, index, single, double] = match
    steps.push(
      index === undefined ? (name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index),
    )
    rest = rest.slice(all.length)
  }
  return steps
}
