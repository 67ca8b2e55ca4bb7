import { count } from '../base/describe.ts'
import { reportDuplicate } from '../compile/compile-array.ts'
import { report, type Run } from '../base/run.ts'
import { applyTo, fits, type FullSchema, type Look, type Rule, type RuleOf } from './rule.ts'

/** What a schema says of the items of an array. */
export function compileItems(schema: FullSchema, ruleOf: RuleOf): Rule | undefined {
  const checks = [compileNumber(schema), compileEach(schema, ruleOf), compileContains(schema, ruleOf)]
  const used = checks.filter((check) => check !== undefined)
  if (used.length === 0) return undefined
  return (value, look) => {
    if (Array.isArray(value)) for (const check of used) check(value, look)
  }
}

type CheckItems = (items: readonly unknown[], look: Look) => void

function compileNumber(schema: FullSchema): CheckItems | undefined {
  const { minItems = 0, maxItems = Infinity, uniqueItems = false } = schema
  if (minItems === 0 && maxItems === Infinity && !uniqueItems) return undefined
  return (items, { run }) => {
    reportNumber(items.length, { run, least: minItems, most: maxItems, noun: 'item' })
    if (uniqueItems) reportDuplicate(items, run)
  }
}

interface Wanted {
  run: Run
  least: number
  most: number
  noun: string
}

function reportNumber(found: number, { run, least, most, noun }: Wanted): void {
  if (found < least)
    report(run, 'too_few', { message: () => `Found ${count(found, noun)}; give at least ${least}.` })
  if (found > most)
    report(run, 'too_many', { message: () => `Found ${count(found, noun)}; give at most ${most}.` })
}

function compileEach(
  { prefixItems = [], items: others }: FullSchema,
  ruleOf: RuleOf,
): CheckItems | undefined {
  if (prefixItems.length === 0 && others === undefined) return undefined
  return (items, { run, marks }) => {
    for (const [index, value] of items.entries()) {
      const schema = prefixItems[index] ?? others
      if (schema === undefined) return
      applyTo(index, ruleOf(schema), { value, run })
      marks?.add(index)
    }
  }
}

function compileContains(schema: FullSchema, ruleOf: RuleOf): CheckItems | undefined {
  const { contains, minContains = 1, maxContains = Infinity } = schema
  if (contains === undefined) return undefined
  return (items, { run, marks }) => {
    const rule = ruleOf(contains)
    let found = 0
    for (const [index, item] of items.entries()) {
      if (!fits(rule, item, { run, marks: undefined })) continue
      found++
      marks?.add(index)
    }
    reportNumber(found, { run, least: minContains, most: maxContains, noun: 'item of the wanted form' })
  }
}
