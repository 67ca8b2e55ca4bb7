import { leaseMs, type StepClaim } from '../../contract/base/tasks.ts'
import { stateGroup, readPlace, taskName } from './names.ts'
import { refusal, someOf } from './refusals.ts'
import { readTask, type StoredState, type StoredTask } from './stored.ts'
import { getOpenTask, getPlan, getState, moveStep, putTask, stateAt, toStep, type StepWork } from './work.ts'

/** Claims a step that is ready for the session: this one, or the first. */
export function claimStep(work: StepWork, wanted: string | undefined): StepClaim {
  const { caller, now, task } = work
  const stored = getOpenTask(work, task)
  checkTasksBefore(work, stored)
  const id = wanted ?? findReady(work)
  if (id === undefined) return { step: undefined, more: hasMore(work) }
  const before = getState(work, id)
  if (stateAt(before, now) !== 'ready') throw notReady(work, id)
  const { session, actor, role } = caller
  const { output: _, reason: __, ...kept } = before
  const next: StoredState = {
    ...kept,
    state: 'running',
    attempt: before.attempt + 1,
    worker: { session, actor, role },
    leaseUntil: now + leaseMs,
  }
  moveStep(work, id, next)
  if (stored.state === 'pending') putTask(work, task, { ...stored, state: 'running' })
  return { step: toStep(work, id, next), more: true }
}

function checkTasksBefore({ draft, caller, task }: StepWork, { dependsOn }: StoredTask): void {
  const open = dependsOn.filter(
    (id) => readTask(draft.read(taskName(caller.actor, id)))?.state !== 'completed',
  )
  if (open.length > 0)
    throw refusal(
      'step_not_ready',
      `No step of the task "${task}" can be claimed before these tasks are completed: ${someOf(open)}.`,
    )
}

/** A step whose worker let its lease run out comes first. */
function findReady({ draft, now, task }: StepWork): string | undefined {
  const [oldest] = draft.ids('step', stateGroup(task, 'running'))
  if (oldest !== undefined && readPlace(oldest).order <= now) return readPlace(oldest).step
  const [first] = draft.ids('step', stateGroup(task, 'ready'))
  return first === undefined ? undefined : readPlace(first).step
}

function hasMore({ draft, task }: StepWork): boolean {
  return (['running', 'pending'] as const).some((state) => {
    const [first] = draft.ids('step', stateGroup(task, state))
    return first !== undefined
  })
}

function notReady(work: StepWork, id: string): Error {
  const { state, attempt, worker, leaseUntil } = getState(work, id)
  if (state === 'running') {
    const until = new Date(leaseUntil ?? 0).toISOString()
    const whose =
      worker?.session === work.caller.session
        ? `this session has claimed it already, as its attempt ${attempt}`
        : 'another worker has claimed it; take another step'
    return refusal('step_not_ready', `The step "${id}" runs until ${until} at least: ${whose}.`)
  }
  if (state !== 'pending')
    return refusal('step_not_ready', `The step "${id}" is ${state}. Its author may reopen it.`)
  const open = getPlan(work, id).dependsOn.filter((on) => getState(work, on).state !== 'completed')
  return refusal('step_not_ready', `The step "${id}" waits until these are completed: ${someOf(open)}.`)
}
