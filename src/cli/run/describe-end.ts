import type { RunResult } from '../../contract/agent-run.ts'
import { countOf } from '../render/count-of.ts'
import { describeUsage } from '../render/describe-usage.ts'

/** What a person reads at the end of a run: how it ended, what it took, and how it goes on. */
export function describeEnd({ endReason, turns, usage, error, waiting, id }: RunResult): string[] {
  return [
    `handrail: ${endReason}: ${countOf(turns, 'turn')}, ${describeUsage(usage)}`,
    ...(error === undefined ? [] : [`handrail: ${error.code} (${error.reason}): ${error.message}`]),
    ...(error?.reason === 'money' && usage.cost === undefined ? [unpriced] : []),
    ...waiting.map(({ id: approval }) => `Answer what waits: handrail approvals allow ${approval}`),
    ...(endReason === 'completed' ? [] : [`Go on: handrail run --resume ${id}`]),
  ]
}

const unpriced = 'handrail: prices.json in your home of Handrail says what a model costs: handrail help run'
