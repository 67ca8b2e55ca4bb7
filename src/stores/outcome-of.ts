import type { EndRecord } from '../contract/evidence.ts'

const outcomes: readonly EndRecord['outcome'][] = ['ok', 'failed', 'denied', 'aborted', 'unknown']

/** The outcome with this name; `unknown` for what is none. */
export function outcomeOf(name: string): EndRecord['outcome'] {
  return outcomes.find((each) => each === name) ?? 'unknown'
}
