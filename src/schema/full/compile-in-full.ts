import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { createResolver, type Resolve } from '../base/references.ts'
import { createRun, issuesOf } from '../base/run.ts'
import { compileChoices } from './compile-choices.ts'
import { compileFields } from './compile-fields.ts'
import { compileItems } from './compile-items.ts'
import { compileValue } from './compile-value.ts'
import { OutOfSteps, refuseAll, type FullSchema, type Rule, type RuleOf, type Subschema } from './rule.ts'
import { compileUnevaluated } from './unevaluated.ts'

/** Checks a value against every keyword of one schema. Returns no issues for a value that fits. */
export type FullCheck = (value: unknown) => readonly Issue[]

/** Schemas that one check may apply. */
const maxApplied = 500_000

/**
 * Compiles a schema of any keywords, in its simplest form, by draft 2020-12; each schema in it when a value first meets it. No value
 * and no schema can make a check run away.
 */
export function compileInFull(root: JsonSchema): FullCheck {
  const resolve = createResolver(root)
  const rules = new Map<FullSchema, Rule>()
  const ruleOf: RuleOf = (schema) => {
    if (typeof schema === 'boolean') return schema ? () => {} : refuseAll
    let rule = rules.get(schema)
    if (rule === undefined) rules.set(schema, (rule = compile(schema, { ruleOf, resolve })))
    return rule
  }
  return (value) => {
    const run = createRun(false)
    run.values = maxApplied
    try {
      // The inspection found every keyword well formed.
      ruleOf(root as FullSchema)(value, { run, marks: undefined })
      return issuesOf(run)
    } catch (error) {
      // A reference to itself that never comes to another part of the value ends with the stack.
      if (error instanceof OutOfSteps || error instanceof RangeError) return [tooMuch]
      throw error
    }
  }
}

const tooMuch: Issue = {
  pointer: '',
  code: 'too_large',
  message: 'Checking this value against its schema takes too long; send less at once.',
}

function compile(schema: FullSchema, { ruleOf, resolve }: { ruleOf: RuleOf; resolve: Resolve }): Rule {
  const rules = [
    compileValue(schema),
    compileReference(schema, ruleOf, resolve),
    ...compileChoices(schema, ruleOf),
    compileFields(schema, ruleOf),
    compileItems(schema, ruleOf),
  ].filter((rule) => rule !== undefined)
  const rest = compileUnevaluated(schema, ruleOf)
  const applyAll: Rule = (value, look) => {
    if (--look.run.values < 0 || look.run.steps < 0) throw new OutOfSteps()
    for (const rule of rules) rule(value, look)
  }
  return rest === undefined ? applyAll : (value, look) => rest(value, look, applyAll)
}

function compileReference({ $ref }: FullSchema, ruleOf: RuleOf, resolve: Resolve): Rule | undefined {
  if ($ref === undefined) return undefined
  // The inspection found that it names a schema.
  return (value, look) => ruleOf(resolve($ref) as Subschema)(value, look)
}
