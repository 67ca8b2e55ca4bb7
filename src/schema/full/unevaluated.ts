import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { namesOf, reportUnknown } from './compile-fields.ts'
import { applyTo, type FullSchema, type Look, type Marks, type Rule, type RuleOf } from './rule.ts'

/** Applies all else that a schema says, then what it says of fields and items that nothing of that spoke about. */
type Rest = (value: unknown, look: Look, applyOthers: Rule) => void

/** Undefined if the schema says nothing about those. */
export function compileUnevaluated(schema: FullSchema, ruleOf: RuleOf): Rest | undefined {
  const { unevaluatedProperties: fields, unevaluatedItems: items } = schema
  if (fields === undefined && items === undefined) return undefined
  return (value, { run, marks }, applyOthers) => {
    const own: Marks = new Set()
    applyOthers(value, { run, marks: own })
    if (isPlainObject(value) && fields !== undefined)
      for (const name of namesOf(value).filter((each) => !own.has(each))) {
        if (fields === false) reportUnknown(name, run)
        else applyTo(name, ruleOf(fields), { value: value[name], run })
        own.add(name)
      }
    if (Array.isArray(value) && items !== undefined)
      for (const [index, item] of value.entries()) {
        if (own.has(index)) continue
        applyTo(index, ruleOf(items), { value: item, run })
        own.add(index)
      }
    for (const mark of own) marks?.add(mark)
  }
}
