import { leaseMs, type StepUpdate, type TaskStep } from '../../contract/services/tasks.ts'
import { refusal } from './refusals.ts'
import type { StoredState } from './stored.ts'
import { getOpenTask, getState, moveStep, toStep, type StepWork, type Work } from './work.ts'

/** Takes what a worker says of a step whose claim is its own and still stands. */
export function updateStep(work: StepWork, update: StepUpdate): TaskStep {
  const { step, state, output, reason } = update
  getOpenTask(work, work.task)
  const before = getState(work, step)
  checkClaim(work, update, before)
  const { leaseUntil: _, reason: __, ...kept } = before
  const next: StoredState = {
    ...kept,
    state,
    ...(output !== undefined && { output }),
    ...(reason !== undefined && { reason }),
    ...(state === 'running' && { leaseUntil: work.now + leaseMs }),
  }
  moveStep(work, step, next)
  return toStep(work, step, next)
}

/** A claim that ran out stands until another worker has the step, so that no work is lost. */
function checkClaim({ caller }: Work, { step, attempt }: StepUpdate, before: StoredState): void {
  const { state, worker } = before
  if (state !== 'running')
    throw refusal(
      'claim_lost',
      `The step "${step}" is ${state}, not running: nothing was changed. Claim a step before you update it.`,
    )
  if (worker?.session !== caller.session || before.attempt !== attempt)
    throw refusal(
      'claim_lost',
      `The step "${step}" is claimed by another worker or by a later claim (attempt ${before.attempt}): nothing was changed. Leave it, and claim another step.`,
    )
}
