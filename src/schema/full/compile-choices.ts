import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerOf, report, type Run } from '../base/run.ts'
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
  const message = () =>
    fitting > 1
      ? 'Fits more than one of the allowed forms; it must fit one.'
      : describeMisfits(choices, value, run)
  report(run, 'not_allowed', { message })
}

const maxReasons = 6
const maxReasonLength = 300

function describeMisfits(choices: readonly Rule[], value: unknown, run: Run): string {
  const here = pointerOf(run)
  const reasons = choices
    .flatMap((rule) => findMisfits(rule, value, run))
    .map(({ pointer, message }) => (pointer === here ? message : `${pointer.slice(here.length)}: ${message}`))
    .map((reason) => shorten(reason, maxReasonLength))
  const shown = [...new Set(reasons)].slice(0, maxReasons)
  return `Fits none of the allowed forms. ${shown.map((reason) => `(${reason})`).join(' or ')}`.trimEnd()
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
