import type { JsonSchema } from '../../contract/base/schema.ts'
import { count, showJson } from '../base/describe.ts'
import { JsonMap } from '../base/json-map.ts'
import { enter, report, type Check, type Run } from '../base/run.ts'

/** Checks an array's items, their number and whether they differ. */
export function compileArray(
  schema: JsonSchema,
  checkItem: Check,
): (items: readonly unknown[], run: Run) => unknown {
  const { minItems: min = 0, maxItems: max = Infinity, uniqueItems = false } = schema
  return (items, run) => {
    if (items.length < min)
      report(run, 'too_few', { message: () => `Found ${count(items.length, 'item')}; give at least ${min}.` })
    if (items.length > max)
      report(run, 'too_many', { message: () => `Found ${count(items.length, 'item')}; give at most ${max}.` })
    if (!enter(run, items.length)) return items
    const before = run.issueCount
    const checked = checkItems(items, checkItem, run)
    if (uniqueItems && run.issueCount === before) reportDuplicate(checked, run)
    return checked
  }
}

function checkItems(items: readonly unknown[], checkItem: Check, run: Run): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length && run.values > 0; index++) {
    const item = items[index]
    run.path.push(index)
    const checked = checkItem(item, run)
    run.path.pop()
    if (checked !== item) (copy ??= items.slice())[index] = checked
  }
  return copy ?? items
}

/** Reports each item that stands in an array before. */
export function reportDuplicate(items: readonly unknown[], run: Run): void {
  const seen = new JsonMap<number>()
  for (const [index, item] of items.entries()) {
    const first = seen.get(item)
    if (first === undefined) seen.set(item, index)
    else
      report(run, 'duplicate_item', {
        token: String(index),
        message: () => `${showJson(item)} is there twice (also at ${first}); give each item once.`,
      })
  }
}
