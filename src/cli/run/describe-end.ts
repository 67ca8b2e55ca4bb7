import type { RunJob, RunResult } from '../../contract/agent-run.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { countOf } from '../render/count-of.ts'
import { describeUsage } from '../render/describe-usage.ts'

/** What a person reads at the end of a run: how it ended, what it took, and how it goes on. */
export function describeEnd({
  endReason,
  turns,
  usage,
  error,
  waiting,
  id,
  atWork = [],
}: RunResult): string[] {
  const hasAgents = atWork.some(({ kind }) => kind === 'agent')
  return [
    `handrail: ${endReason}: ${countOf(turns, 'turn')}, ${describeUsage(usage)}`,
    ...(error === undefined ? [] : [`handrail: ${error.code} (${error.reason}): ${error.message}`]),
    ...(error?.reason === 'money' && usage.cost === undefined ? [unpriced] : []),
    ...waiting.map(({ id: approval }) => `Answer what waits: handrail approvals allow ${approval}`),
    ...atWork.map(describeJob),
    ...(endReason !== 'completed'
      ? [`Go on: handrail run --resume ${id}`]
      : hasAgents
        ? [`Go on: handrail run --resume ${id} "<what comes next>"`]
        : []),
  ]
}

/** What the end of the run does to a job. */
function describeJob({ id, kind, title }: RunJob): string {
  const what = `handrail: the end of the run interrupts the ${kind === 'tool' ? 'job' : kind} ${id} (${shorten(title, 100)})`
  if (kind === 'agent') return `${what}; it goes on when the run does`
  return kind === 'tool' ? `${what}, unless its tool survives that` : what
}

const unpriced = 'handrail: prices.json in your home of Handrail says what a model costs: handrail help run'
