import type { HidingRule } from './compiled-rule.ts'
import { createHiddenValues } from './hidden-values.ts'
import { hideText, redactedMark } from './hide.ts'

/** How many steps all matching for one result may take: well under a second. */
const maxSteps = 10_000_000

/** Hides what the rules' patterns find, and values that were hidden elsewhere. */
export interface TextHider {
  text(value: string): string
  /** From now on this value is hidden wherever it turns up. */
  hideEverywhere(value: string, mark: string): void
  /** Rules that could not be carried out in time; texts they were for are withheld. */
  readonly failed: Set<HidingRule>
}

/** A hider for one result. */
export function createTextHider(rules: readonly HidingRule[]): TextHider {
  const hidden = createHiddenValues()
  const failed = new Set<HidingRule>()
  const budget = { steps: maxSteps }
  const withhold = (blamed: readonly HidingRule[]): string => {
    for (const rule of blamed) failed.add(rule)
    return withheldText(blamed.map(({ id }) => id))
  }
  return {
    failed,
    hideEverywhere: (value, mark) => hidden.add(value, mark),
    text(value) {
      if (value === redactedMark) return value
      const occurrences = hidden.find(value, budget)
      if (occurrences === undefined) return withhold(rules)
      let text = value
      if (occurrences.length > 0) text = replace(text, occurrences)
      for (const rule of rules) {
        for (const pattern of rule.patterns) {
          const spans = pattern.spans(text, budget)
          if (spans === undefined) return withhold([rule])
          if (spans.length > 0) text = replace(text, spans.map(toOccurrence(text, rule)))
        }
      }
      return text
    },
  }
}

function toOccurrence(text: string, rule: HidingRule) {
  return ([start, end]: readonly [number, number]) => ({
    start,
    end,
    mark: hideText(text.slice(start, end), rule.hiding),
  })
}

function replace(text: string, found: readonly { start: number; end: number; mark: string }[]): string {
  let result = ''
  let last = 0
  for (const { start, end, mark } of found) {
    result += text.slice(last, start) + mark
    last = end
  }
  return result + text.slice(last)
}

/** Says that something is not shown, and because of which obligations. */
export function withheldText(ids: readonly string[]): string {
  return `[withheld: the policy's obligation ${ids.map((id) => `"${id}"`).join(', ')} could not be carried out]`
}
