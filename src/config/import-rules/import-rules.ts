import type { Rule } from '../../contract/policy.ts'
import type { Mode } from '../../contract/base/principal.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { checkRules } from '../policy/check-rules.ts'
import type { ImportedRules, ImportNote, Translation } from './imported-rules.ts'
import { readRuleText } from './read-rule-text.ts'
import { readSettings, type GivenPermissions, type GivenRule } from './read-settings.ts'
import { translateRule } from './translate-rule.ts'

/** Whose settings are read. */
export interface ImportOptions {
  /** The absolute folder of the project whose settings they are: the rules hold there only. Absent: the person's own, for every project. */
  project?: string
}

const modes: ReadonlyMap<string, Mode> = new Map([
  ['default', 'default'],
  ['acceptEdits', 'accept-edits'],
  ['plan', 'plan'],
])

/**
 * Turns the permissions that a person wrote for another agent, `{"permissions": {"allow": ["Bash(npm run test:*)"], "ask": [], "deny":
 * ["Read(~/.ssh/**)"]}}`, into rules of a policy. Nothing is allowed that was not: what has no exact counterpart is left out where it
 * allows, and asks or denies more where it asks or denies; a note says so for each. Pure. Throws a SetupError with every issue where the
 * settings have another shape.
 */
export function importRules(settings: unknown, options: ImportOptions = {}): ImportedRules {
  const given = readSettings(settings)
  const notes: ImportNote[] = []
  const rules: Rule[] = []
  const known = new Map<string, string>()
  for (const each of given.rules) {
    const { match, difference } = translate(each, options)
    const { effect, text, pointer } = each
    const about = { pointer, rule: text }
    const stronger =
      match && [canonicalJson(match), text.trim()].map((key) => known.get(key)).find((id) => id !== undefined)
    if (match === undefined) notes.push({ ...about, became: 'left_out', reason: difference ?? '' })
    else if (stronger === undefined) {
      const id = toId(each, options)
      known.set(canonicalJson(match), id).set(text.trim(), id)
      rules.push({
        id,
        effect,
        ...match,
        ...(options.project !== undefined && { projects: [options.project] }),
      })
      if (difference !== undefined)
        notes.push({ ...about, became: effect === 'allow' ? 'narrower' : 'wider', reason: difference })
    } else if (!stronger.startsWith(`${effect} `))
      notes.push({ ...about, became: 'left_out', reason: `"${stronger}" speaks of the same calls and wins` })
  }
  const mode = options.project === undefined ? modes.get(given.defaultMode ?? '') : undefined
  return { rules, ...(mode !== undefined && { mode }), notes: [...notes, ...noteOthers(given, mode)] }
}

/** Also what would be an issue of a policy has no counterpart. */
function translate({ effect, text }: GivenRule, { project }: ImportOptions): Translation {
  const setting = { effect, places: { root: project === undefined ? '~/.claude' : '{project}' } }
  const read = readRuleText(text)
  const first = translateRule(read, setting)
  const flaw = findFlaw(first, effect)
  if (flaw === undefined) return first
  const second = effect === 'allow' ? {} : translateRule({ ...read, flaw }, setting)
  return findFlaw(second, effect) === undefined && second.match !== undefined ? second : { difference: flaw }
}

function findFlaw({ match }: Translation, effect: Rule['effect']): string | undefined {
  if (match === undefined) return undefined
  const issues = checkRules([{ effect, ...match }], { pointer: '', layer: 'policy', allowBypass: false })
  return issues[0]?.message.replace(/\.$/, '')
}

function toId({ effect, text }: GivenRule, { project }: ImportOptions): string {
  return `${effect} ${text.trim()}${project === undefined ? '' : ` in ${project}`}`
}

function noteOthers(given: GivenPermissions, mode: Mode | undefined): ImportNote[] {
  const { defaultMode, additionalDirectories, hooks } = given
  const leftOut = (pointer: string, rule: string, reason: string): ImportNote => ({
    pointer,
    rule,
    became: 'left_out',
    reason,
  })
  const notes: ImportNote[] = []
  if (defaultMode !== undefined && defaultMode !== 'default' && mode === undefined)
    notes.push(leftOut('/permissions/defaultMode', defaultMode, describeMode(defaultMode)))
  if (additionalDirectories.length > 0) {
    const folders = JSON.stringify(additionalDirectories)
    const reason = `folders stand in config.json: "readRoots": ${folders}, and "writeRoots" where files may be changed`
    notes.push(leftOut('/permissions/additionalDirectories', additionalDirectories.join(', '), reason))
  }
  if (hooks) notes.push(leftOut('/hooks', 'hooks', 'hooks stand in config.json'))
  return notes
}

function describeMode(name: string): string {
  if (name === 'bypassPermissions')
    return 'sessions ask for mode "bypass" themselves, and the policy must say "allowBypass": true'
  return modes.has(name)
    ? 'the mode of a policy holds in every project, and these settings are those of one'
    : 'there is no mode like it'
}
