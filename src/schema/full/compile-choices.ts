import type { Issue } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { passOn, pointerOf, report } from '../base/run.ts'
import { findMisfits, fits, type FullSchema, type Rule, type RuleOf } from './rule.ts'
import { shorten } from '../../kit/text/shorten.ts'

/** What a schema says with other schemas about the whole value. */
export function compileChoices(schema: FullSchema, ruleOf: RuleOf): (Rule | undefined)[] {
  const { allOf, anyOf, oneOf, not } = schema
  return [
    allOf && ((value, look) => allOf.forEach((each) => ruleOf(each)(value, look))),
    anyOf && ((value, look) => checkChoice(anyOf.map(ruleOf), value, { look, exactlyOne: false })),
    oneOf && ((value, look) => checkChoice(oneOf.map(ruleOf), value, { look, exactlyOne: true })),
    not === undefined ? undefined : forbid(not, ruleOf),
    compileCondition(schema, ruleOf),
    compileDependents(schema, ruleOf),
  ]
}

/** Every choice is looked at, also after one that fits: it may speak of further fields. */
function checkChoice(
  choices: readonly Rule[],
  value: unknown,
  { look, exactlyOne }: { look: Parameters<Rule>[1]; exactlyOne: boolean },
): void {
  const { run } = look
  const fitting = choices.filter((rule) => fits(rule, value, look)).length
  if (fitting === 1 || (fitting > 1 && !exactlyOne)) return
  if (fitting > 1)
    return report(run, 'not_allowed', {
      message: () => 'Fits more than one of the allowed forms; it must fit one.',
    })
  if (run.silent) return report(run, 'not_allowed', { message: () => '' })
  const misfits = choices.map((rule) => findMisfits(rule, value, run))
  const here = pointerOf(run)
  const [meant = [], ...others] = misfits.filter(
    (issues) => !issues.some((issue) => isOtherKind(issue, here)),
  )
  if (others.length === 0 && meant.length > 0) passOn(meant, run)
  else report(run, 'not_allowed', { message: () => describeMisfits(misfits, here) })
}

/** Whether a field of the value itself says that another one of the choices is meant, as the discriminator of a union does. */
function isOtherKind({ code, pointer }: Issue, here: string): boolean {
  return code === 'not_allowed' && pointer.length > here.length && pointer.lastIndexOf('/') === here.length
}

const maxReasons = 6
const maxReasonLength = 300

/** If all choices are of another kind, their kinds are the reasons. */
function describeMisfits(misfits: readonly (readonly Issue[])[], here: string): string {
  const kinds = misfits.map((issues) => issues.filter((issue) => isOtherKind(issue, here)))
  const reasons = (kinds.every((issues) => issues.length > 0) ? kinds : misfits)
    .flat()
    .map((issue) => {
      const reason = withoutValue(issue)
      return issue.pointer === here ? reason : `${issue.pointer.slice(here.length)}: ${reason}`
    })
    .map((reason) => shorten(reason, maxReasonLength))
  const shown = [...new Set(reasons)].slice(0, maxReasons)
  return `Fits none of the allowed forms. ${shown.map((reason) => `(${reason})`).join(' or ')}`.trimEnd()
}

/** The issue stands at the choice, so what it says of a value below may not show it: an obligation may protect that place. */
function withoutValue({ code, message }: Issue): string {
  if (code === 'pattern_mismatch')
    return `does not match ${message.slice(message.lastIndexOf(' the pattern ') + 1)}`
  if (code === 'duplicate_item') return 'An item is there twice.'
  return message.replace(/^Found (the |true|false|null|-?[\d.]+;).*; give/s, 'give')
}

function forbid(not: NonNullable<FullSchema['not']>, ruleOf: RuleOf): Rule {
  const isEverything = not === true || (typeof not === 'object' && Object.keys(not).length === 0)
  const message = isEverything
    ? 'Nothing is allowed here; remove it.'
    : 'It has a form that the schema forbids ("not").'
  return (value, { run }) => {
    if (fits(ruleOf(not), value, { run, marks: undefined }))
      report(run, 'not_allowed', { message: () => message })
  }
}

/** An `if` alone permits and forbids nothing, but it speaks of fields. */
function compileCondition(schema: FullSchema, ruleOf: RuleOf): Rule | undefined {
  const { if: condition, then: yes = true, else: no = true } = schema
  if (condition === undefined) return undefined
  return (value, look) => {
    ruleOf(fits(ruleOf(condition), value, look) ? yes : no)(value, look)
  }
}

function compileDependents({ dependentSchemas }: FullSchema, ruleOf: RuleOf): Rule | undefined {
  if (dependentSchemas === undefined) return undefined
  return (value, look) => {
    if (!isPlainObject(value)) return
    for (const [name, schema] of Object.entries(dependentSchemas))
      if (Object.hasOwn(value, name) && value[name] !== undefined) ruleOf(schema)(value, look)
  }
}
