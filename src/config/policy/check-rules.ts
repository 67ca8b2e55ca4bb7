import type { Issue } from '../../contract/base/json.ts'
import type { Policy, Rule } from '../../contract/policy.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { checkEach, checkIds } from '../base/check-lists.ts'
import { findConflicts } from './find-conflicts.ts'
import {
  findCommandFlaw,
  findProgramFlaw,
  findProjectFlaw,
  findResourceFlaw,
  findToolFlaw,
} from '../base/find-flaw.ts'

/** Where rules stand, and what is known of the sessions they could meet. */
export interface RuleSurroundings {
  /** Pointer to the list. */
  pointer: string
  /** The layer that names rules without an id. */
  layer: string
  /** Whether there can be sessions in mode bypass; undefined if that is not known. */
  allowBypass: Policy['allowBypass'] | 'unknown'
}

/**
 * What a schema cannot say of rules: those that could never match, so that a deny would deny nothing and the operator would not
 * notice; two that have one id; two that say different things of the same calls.
 */
export function checkRules(rules: readonly Rule[], about: RuleSurroundings): Issue[] {
  return [
    ...rules.flatMap((rule, index) => checkRule(rule, pointerTo(about.pointer, index), about)),
    ...checkIds(rules, about.pointer, (index) => `${about.layer}/rules/${index}`),
    ...findConflicts(rules, about.pointer),
  ]
}

function checkRule(rule: Rule, pointer: string, { allowBypass }: RuleSurroundings): Issue[] {
  const issues = [
    ...checkEach(rule.tools, `${pointer}/tools`, { code: 'never_matches', find: findToolFlaw }),
    ...checkEach(rule.projects, `${pointer}/projects`, { code: 'never_matches', find: findProjectFlaw }),
    ...checkEach(rule.resources, `${pointer}/resources`, {
      code: 'invalid_resource',
      find: findResourceFlaw,
    }),
    ...checkEach(rule.argv?.slice(0, 1), `${pointer}/argv`, { code: 'never_matches', find: findProgramFlaw }),
    ...checkEach(rule.commands, `${pointer}/commands`, {
      code: 'never_matches',
      find: (pattern) => findCommandFlaw(pattern, rule.effect),
    }),
  ]
  const never = (field: string, message: string) =>
    issues.push({ pointer: `${pointer}/${field}`, code: 'never_matches', message })
  if (
    rule.modes?.every((mode) => mode === 'bypass') === true &&
    allowBypass !== true &&
    allowBypass !== 'unknown'
  )
    never(
      'modes',
      'No session can be in mode "bypass" without "allowBypass": true. Set it, or name another mode.',
    )
  if (coversNoCommand(rule))
    never(
      'resources',
      'An allow rule covers all that a call reaches: a command reaches a program, and none of these resources is one. Add "handrail:exec:…", or take them out.',
    )
  if (rule.sensitive === true && rule.effect !== 'allow')
    issues.push({
      pointer: `${pointer}/sensitive`,
      code: 'without_effect',
      message: `A rule that says ${rule.effect} covers sensitive paths anyway. Take "sensitive" out, or let the rule allow.`,
    })
  return issues
}

function coversNoCommand({ effect, argv, commands, resources }: Rule): boolean {
  if (effect !== 'allow' || resources === undefined) return false
  if (argv === undefined && commands === undefined) return false
  return resources.every((resource) => /^handrail:(file|host):/.test(resource))
}
