import { checkEach } from '../../config/base/check-lists.ts'
import { findToolFlaw } from '../../config/base/find-flaw.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { ToolRestriction } from '../../contract/runtime.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'

/** Every issue of the two lists that say which tools a session has: each is a list of names or patterns that could match a tool. */
export function checkToolLists(given: Pick<ToolRestriction, 'allowedTools' | 'disallowedTools'>): Issue[] {
  return (['allowedTools', 'disallowedTools'] as const).flatMap((field): Issue[] => {
    const value: unknown = given[field]
    const pointer = `/${field}`
    if (value === undefined) return []
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      return [{ pointer, code: 'wrong_type', message: 'Give a list of names or patterns.' }]
    return checkEach(value, pointer, { code: 'never_matches', find: findToolFlaw })
  })
}

const fields: readonly (keyof ToolRestriction)[] = ['allowedTools', 'disallowedTools', 'replace', 'name']

/** Throws a SetupError with every issue of a restriction. */
export function checkRestriction(given: ToolRestriction): void {
  const issues = [...findUnknownFields(given, fields), ...checkToolLists(given)]
  if (given.replace !== undefined && typeof given.replace !== 'boolean')
    issues.push({ pointer: '/replace', code: 'wrong_type', message: 'Give true or false.' })
  if (given.name !== undefined && (typeof given.name !== 'string' || !/^[\w.:-]{1,128}$/.test(given.name)))
    issues.push({
      pointer: '/name',
      code: 'invalid_id',
      message: 'Give a name of letters, digits, "_", ".", ":" and "-", at most 128.',
    })
  if (issues.length > 0) throw new SetupError('invalid_options', 'The session cannot be restricted:', issues)
}
