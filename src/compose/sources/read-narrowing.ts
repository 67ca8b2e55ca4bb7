import { toToolNames } from '../../agents/definitions/to-tool-names.ts'
import type { FieldIssue, ReadNarrowing } from '../../agents/skills/check-skill.ts'
import { readRuleText } from '../../config/import-rules/read-rule-text.ts'
import { translateRule } from '../../config/import-rules/translate-rule.ts'
import type { SkillRule } from '../../contract/base/skill.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { withoutStop } from '../../kit/text/without-stop.ts'

/** What a session has whatever its skills leave: else it could load no further one, nor read what was cut off of a result. */
const always: readonly string[] = ['internal.list_skills', 'internal.load_skill', 'artifact.read']

interface Entry {
  /** Canonical names or patterns. */
  readonly names: readonly string[]
  /** Which calls of them; undefined: all. `none` if that cannot be said here. */
  readonly bound?: Omit<SkillRule, 'id' | 'effect'> | 'none'
}

/** Reads the lists of a skill as what it leaves of the calls of a session. */
export const readNarrowing: ReadNarrowing = ({ allowed, disallowed, skill }) => {
  const issues: FieldIssue[] = []
  const open = readEntries(allowed, 'allow', (message) => {
    issues.push({ field: 'allowed-tools', message, leftOut: false })
  })
  // What is to be left out and cannot be must not be there unseen.
  const kept = readEntries(disallowed, 'deny', (message, isHeld) => {
    issues.push({ field: 'disallowed-tools', message, leftOut: !isHeld })
  })
  if (allowed.length > 0 && open.length === 0)
    issues.push({
      field: 'allowed-tools',
      message:
        '"allowed-tools" names no tool that is known here, so the skill would have none. Name one, or leave the field out: then no tool is left out.',
      leftOut: true,
    })
  const whole = new Set(open.flatMap(({ names, bound }) => (bound === undefined ? names : [])))
  // Its own files can be read whatever it names.
  const bounded = new Set([
    'code.read_file',
    ...open.flatMap(({ names, bound }) => (bound === undefined ? [] : names)),
  ])
  const left = kept.flatMap(({ names, bound }) => (bound === undefined ? names : []))
  const narrowing = {
    ...(open.length > 0 && { allowed: [...new Set([...whole, ...bounded, ...always])] }),
    ...(left.length > 0 && { disallowed: left }),
    ...(open.length > 0 && {
      bounded: [...bounded].filter((name) => ![...whole].some((each) => matchPattern(each, name))),
    }),
    within: toRules(open, 'allow', skill),
    denied: toRules(kept, 'deny', skill),
  }
  return { narrowing: withoutEmpty(narrowing), issues }
}

function readEntries(
  entries: readonly string[],
  effect: SkillRule['effect'],
  tell: (message: string, isHeld?: boolean) => void,
): Entry[] {
  return entries.flatMap((text): Entry[] => {
    const { tool, specifier, flaw } = readRuleText(text)
    if (flaw !== undefined) {
      tell(`"${text}" cannot be read: ${flaw}. It counts for nothing.`)
      return []
    }
    const { names, leftOut } = toToolNames([tool])
    for (const message of leftOut) tell(`${message} It counts for nothing.`)
    if (names.length === 0) return []
    if (specifier === undefined || specifier === '*') return [{ names }]
    const places = { root: '{project}' }
    const { match, difference } = translateRule({ tool, specifier, flaw }, { effect, places })
    if (match !== undefined) {
      if (effect === 'deny' && difference !== undefined) tell(`Of "${text}" ${difference}.`, true)
      return [{ names, bound: match }]
    }
    const why = withoutStop(difference ?? 'its bound means nothing here')
    tell(
      effect === 'allow'
        ? `"${text}" is not taken as it is: ${why}. Every call of the tool asks.`
        : `"${text}" cannot be held: ${why}. Name the tool alone, or write a rule of the policy.`,
    )
    return [{ names, bound: 'none' }]
  })
}

function toRules(entries: readonly Entry[], effect: SkillRule['effect'], skill: string): SkillRule[] {
  return entries.flatMap(({ bound }) =>
    bound === undefined || bound === 'none' ? [] : [{ ...bound, id: skill, effect }],
  )
}

function withoutEmpty<Value extends object>(value: Value): Value {
  const pairs = Object.entries(value).filter(([, each]) => !Array.isArray(each) || each.length > 0)
  return Object.fromEntries(pairs) as Value
}
