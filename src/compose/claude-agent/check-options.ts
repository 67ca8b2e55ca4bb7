import { checkEach } from '../../config/base/check-lists.ts'
import { findToolFlaw } from '../../config/base/find-flaw.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { findNoFunctions } from '../../kit/json/find-wrong-kinds.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** Throws a SetupError with every issue of the options of the door. */
export function checkClaudeOptions(options: unknown): void {
  if (!isPlainObject(options)) throw new SetupError('invalid_options', needsRuntime)
  const issues = [
    ...findUnknownFields(options, ['runtime', 'tools', 'canUseTool']),
    ...findNoFunctions(options, ['canUseTool']),
    ...checkTools(options['tools']),
  ]
  if (!isObject(options['runtime']))
    issues.push({ pointer: '/runtime', code: 'missing_field', message: needsRuntime })
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'The options of claudeAgent are not right:', issues)
}

const needsRuntime = 'Hand it the runtime of the session: claudeAgent(session, { runtime }).'

function checkTools(tools: unknown): Issue[] {
  if (tools === undefined) return []
  if (!Array.isArray(tools) || !tools.every((each) => typeof each === 'string'))
    return [{ pointer: '/tools', code: 'wrong_type', message: 'Give a list of names or patterns.' }]
  return checkEach(tools, '/tools', { code: 'never_matches', find: findToolFlaw })
}
