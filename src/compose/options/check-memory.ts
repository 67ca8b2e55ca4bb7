import { isAbsolute } from 'node:path'
import type { Issue } from '../../contract/base/json.ts'
import { memoryModes, type MemoryOptions } from '../../contract/services/memory.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isObject } from '../../kit/json/is-object.ts'

const fields: readonly (keyof MemoryOptions)[] = ['dir', 'mode', 'external']

/** What is wrong with the options of memory. */
export function checkMemory(given: unknown): Issue[] {
  if (given === undefined) return []
  const wrong = (pointer: string, message: string): Issue => ({
    pointer: `/memory${pointer}`,
    code: 'wrong_value',
    message,
  })
  if (!isObject(given)) return [wrong('', 'Give { dir } with the path of a folder.')]
  const { dir, mode, external } = given as { [field: string]: unknown }
  const issues = findUnknownFields(given, fields).map((issue) => ({
    ...issue,
    pointer: `/memory${issue.pointer}`,
  }))
  if (dir !== undefined && (typeof dir !== 'string' || !isAbsolute(dir)))
    issues.push(wrong('/dir', 'Give the absolute path of a folder.'))
  if (mode !== undefined && !memoryModes.some((each) => each === mode))
    issues.push(wrong('/mode', `Give one of ${memoryModes.join(', ')}.`))
  if (external !== undefined && !isExternal(external))
    issues.push(wrong('/external', 'Give an object with the functions recall and write.'))
  if (external !== undefined && mode !== 'external')
    issues.push(wrong('/mode', 'A memory of your own needs the mode "external".'))
  return issues
}

function isExternal(value: unknown): boolean {
  if (!isObject(value)) return false
  const { recall, write } = value as { [field: string]: unknown }
  return typeof recall === 'function' && typeof write === 'function'
}
