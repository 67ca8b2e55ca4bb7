import type { Issue } from '../../contract/base/json.ts'
import { strictness, type Effect, type Obligation, type Rule } from '../../contract/policy.ts'
import { modes, roles } from '../../contract/base/principal.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** An issue for each rule that says another thing of the very calls that an earlier one speaks of. */
export function findConflicts(rules: readonly Rule[], pointer: string): Issue[] {
  return findClashes(
    rules.map((rule, index) => ({
      key: callsOf(rule),
      says: rule.effect,
      name: rule.id ?? pointerTo(pointer, index),
      pointer: pointerTo(pointer, index),
    })),
  )
}

/** The strictest rule for all tenants of each kind of calls. */
export type StrictestRules = ReadonlyMap<string, { readonly effect: Effect; readonly name: string }>

/** Finds, for each kind of calls that a rule speaks of, what the strictest says. */
export function findStrictest(rules: readonly Rule[]): StrictestRules {
  const strictest = new Map<string, { effect: Effect; name: string }>()
  rules.forEach((rule, index) => {
    const key = callsOf(rule)
    const known = strictest.get(key)
    if (known === undefined || strictness[rule.effect] > strictness[known.effect])
      strictest.set(key, { effect: rule.effect, name: rule.id ?? `/rules/${index}` })
  })
  return strictest
}

/**
 * An issue for each rule of a tenant that would loosen what a rule for all tenants says of the very same calls: it would never count.
 * To be stricter is what a tenant's rules are for.
 */
export function findVainRules(
  own: { rules: readonly Rule[]; pointer: string },
  strictest: () => StrictestRules,
): Issue[] {
  return own.rules.flatMap((rule, index) => {
    const stricter = strictest().get(callsOf(rule))
    if (stricter === undefined || strictness[stricter.effect] <= strictness[rule.effect]) return []
    return [
      {
        pointer: pointerTo(own.pointer, index),
        code: 'contradiction',
        message: `This rule says ${rule.effect} of the very calls of which rule "${stricter.name}" says ${stricter.effect} for all tenants, and that wins. Take one of them out, or make that one narrower.`,
      },
    ]
  })
}

/** An issue for each obligation that does another thing to the very values that an earlier one changes. */
export function findClashingObligations(obligations: readonly Obligation[], pointer: string): Issue[] {
  return findClashes(
    obligations.map((obligation, index) => {
      const { id, action, text, onFailure = 'deny', ...matchers } = obligation
      const says = action === 'watermark' ? `watermark "${text ?? ''}"` : action
      return {
        // Watermarks stand beside everything; two of them are two texts.
        key: action === 'watermark' ? `${index}` : canonicalJson(inAnyOrder(matchers)),
        says: `${says}, and on failure ${onFailure}`,
        name: id,
        pointer: pointerTo(pointer, index),
      }
    }),
  )
}

interface Statement {
  key: string
  says: string
  name: string
  pointer: string
}

function findClashes(statements: readonly Statement[]): Issue[] {
  const first = new Map<string, Statement>()
  return statements.flatMap((statement) => {
    const { key, says, name, pointer } = statement
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, statement)
    if (earlier === undefined || earlier.says === says) return []
    const message = `"${name}" says ${says} where "${earlier.name}" says ${earlier.says}, of the very same calls. Keep one of them.`
    return [{ pointer, code: 'contradiction', message }]
  })
}

/** The same text for rules that match the same calls, whatever the order of their lists. */
function callsOf(rule: Rule): string {
  const {
    tools,
    tags,
    roles: ofRoles,
    modes: inModes,
    projects,
    resources,
    argv,
    commands,
    input,
    inputOnly,
  } = rule
  return canonicalJson({
    ...inAnyOrder({ tags, projects, resources, commands }),
    argv,
    input,
    inputOnly: inputOnly === true ? true : undefined,
    tools: tools?.includes('*') === true ? undefined : sorted(tools),
    roles:
      ofRoles !== undefined && roles.every((role) => ofRoles.includes(role)) ? undefined : sorted(ofRoles),
    modes:
      inModes !== undefined && modes.every((mode) => inModes.includes(mode)) ? undefined : sorted(inModes),
  })
}

function inAnyOrder(matchers: { readonly [field: string]: readonly string[] | undefined }) {
  return Object.fromEntries(Object.entries(matchers).map(([field, list]) => [field, sorted(list)]))
}

function sorted(list: readonly string[] | undefined): string[] | undefined {
  return list === undefined ? undefined : [...new Set(list)].sort()
}
