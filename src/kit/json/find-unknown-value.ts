import type { Issue } from '../../contract/base/json.ts'

/** An issue where an option has a value that is none of the known ones. One that is left out has none. */
export function findUnknownValue(
  pointer: string,
  value: string | undefined,
  known: readonly string[],
): Issue[] {
  if (value === undefined || known.includes(value)) return []
  return [{ pointer, code: 'unknown_value', message: `"${String(value)}" is none of ${known.join(', ')}.` }]
}
