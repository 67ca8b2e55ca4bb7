import { leaseMs, type StepClaim } from '../../contract/base/tasks.ts'
import { stateGroup, readPlace, stateName, taskName } from './names.ts'
import { refusal, someOf } from './refusals.ts'
import { readState, readTask, type StoredState, type StoredTask } from './stored.ts'
import { getOpenTask, getPlan, getState, moveStep, putTask, stateAt, toStep, type StepWork } from './work.ts'

/** Claims a step that is ready for the session: this one, or the first. */
export function claimStep(work: StepWork, wanted: string | undefined): StepClaim {
  const { caller, now, task } = work
  const stored = getOpenTask(work, task)
  checkTasksBefore(work, stored)
  const allowed = findAllowed(work)
  if (wanted !== undefined && allowed?.has(wanted) === false) throw notAllowed(work, wanted, allowed)
  const id = wanted ?? findReady(work, allowed)
  if (id === undefined) return { step: undefined, more: hasMore(work, allowed) }
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

/** The steps that the session may claim; undefined for all of them. Throws `step_not_allowed` if it may claim none of the task. */
function findAllowed({ caller, task }: StepWork): ReadonlySet<string> | undefined {
  let allowed: ReadonlySet<string> | undefined
  for (const { task: own, steps } of caller.claims) {
    if (own !== task)
      throw refusal(
        'step_not_allowed',
        `This worker was dispatched for the task "${own}", and claims no step of "${task}".`,
      )
    if (steps === undefined) continue
    const before: ReadonlySet<string> | undefined = allowed
    allowed = new Set(steps.filter((id) => before?.has(id) ?? true))
  }
  return allowed
}

function notAllowed({ task }: StepWork, wanted: string, allowed: ReadonlySet<string>): Error {
  const those = allowed.size === 0 ? 'none' : someOf([...allowed])
  return refusal(
    'step_not_allowed',
    `This worker may not claim the step "${wanted}" of "${task}". It may claim ${those}.`,
  )
}

/** A step whose worker let its lease run out comes first. */
function findReady(work: StepWork, allowed: ReadonlySet<string> | undefined): string | undefined {
  const { draft, now, task } = work
  if (allowed !== undefined) return findOf(work, allowed, (state) => stateAt(state, now) === 'ready')
  const [oldest] = draft.ids('step', stateGroup(task, 'running'))
  if (oldest !== undefined && readPlace(oldest).order <= now) return readPlace(oldest).step
  const [first] = draft.ids('step', stateGroup(task, 'ready'))
  return first === undefined ? undefined : readPlace(first).step
}

function hasMore(work: StepWork, allowed: ReadonlySet<string> | undefined): boolean {
  const isOpen = ({ state }: StoredState): boolean => state === 'running' || state === 'pending'
  if (allowed !== undefined) return findOf(work, allowed, isOpen) !== undefined
  return (['running', 'pending'] as const).some((state) => {
    const [first] = work.draft.ids('step', stateGroup(work.task, state))
    return first !== undefined
  })
}

/** The first of these steps that stands so. One that the author has deleted is passed by. */
function findOf(
  { draft, task }: StepWork,
  ids: ReadonlySet<string>,
  stands: (state: StoredState) => boolean,
): string | undefined {
  for (const id of ids) {
    const state = readState(draft.look(stateName(task, id)))
    if (state !== undefined && stands(state)) return id
  }
  return undefined
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
