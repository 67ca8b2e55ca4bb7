import type { StepState, TaskCaller, TaskStep } from '../../contract/services/tasks.ts'
import type { Draft } from './draft.ts'
import { afterGroup, openGroup, placeName, planName, stateName, taskName } from './names.ts'
import { refusal } from './refusals.ts'
import { readPlan, readState, readTask, toStored } from './stored.ts'
import type { StoredPlan, StoredState, StoredTask } from './stored.ts'

/** What the functions of this room work with: the changes of one call, who makes it, and when. */
export interface Work {
  readonly draft: Draft
  readonly caller: TaskCaller
  readonly now: number
}

/** The same for the steps of one task. */
export interface StepWork extends Work {
  readonly task: string
}

/** A task of the caller. Throws `unknown_task`. */
export function getTask({ draft, caller }: Work, id: string): StoredTask {
  const task = readTask(draft.read(taskName(caller.actor, id)))
  if (task === undefined)
    throw refusal('unknown_task', `There is no task "${id}". agent.task_list lists those that there are.`)
  return task
}

/** The same of one that has not ended. Throws `task_ended`. */
export function getOpenTask(work: Work, id: string): StoredTask {
  const task = getTask(work, id)
  if (!hasEnded(task)) return task
  throw refusal(
    'task_ended',
    `The task "${id}" is ${task.state}, so its steps stay as they are. Its author opens it again with agent.task_update: {"op": "update_task", "status": "running"}.`,
  )
}

export function hasEnded({ state }: Pick<StoredTask, 'state'>): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

export function putTask({ draft, caller, now }: Work, id: string, task: StoredTask): void {
  draft.write(taskName(caller.actor, id), toStored({ ...task, updatedAt: now }))
  draft.write({ kind: 'task', group: openGroup(caller.actor), id }, hasEnded(task) ? undefined : true)
}

/** Where a step of the task stands. Throws `unknown_step`. */
export function getState({ draft, task }: StepWork, id: string): StoredState {
  const state = readState(draft.read(stateName(task, id)))
  if (state === undefined) throw unknownStep(task, id)
  return state
}

/** What the author says of a step. Throws `unknown_step`. Its task has to be read, too. */
export function getPlan({ draft, task }: StepWork, id: string): StoredPlan {
  const plan = readPlan(draft.look(planName(task, id)))
  if (plan === undefined) throw unknownStep(task, id)
  return plan
}

function unknownStep(task: string, id: string): Error {
  return refusal(
    'unknown_step',
    `The task "${task}" has no step "${id}". agent.task_query_steps lists its steps.`,
  )
}

/** Has a step stand there from now on; with undefined it goes. */
export function putState({ draft, task }: StepWork, id: string, next: StoredState | undefined): void {
  const before = readState(draft.look(stateName(task, id)))
  if (before !== undefined) draft.write(placeName(task, id, before), undefined)
  draft.write(stateName(task, id), next && toStored(next))
  if (next !== undefined) draft.write(placeName(task, id, next), true)
}

/** Moves a step from one state to another, and what depends on it with it: that waits for one step less once this one is completed, and for one more before. */
export function moveStep(work: StepWork, id: string, next: StoredState): void {
  const was = getState(work, id).state
  putState(work, id, next)
  const difference = Number(was === 'completed') - Number(next.state === 'completed')
  if (difference === 0) return
  for (const dependent of dependentsOf(work, id)) {
    const state = getState(work, dependent)
    putState(work, dependent, withWaits(state, state.waits + difference))
  }
}

/** The steps that depend on a step. */
export function dependentsOf({ draft, task }: StepWork, id: string): string[] {
  return [...draft.ids('step', afterGroup(task, id))]
}

/** The same, waiting for so many steps: ready or not. */
export function withWaits(state: StoredState, waits: number): StoredState {
  if (state.state !== 'pending' && state.state !== 'ready') return { ...state, waits }
  return { ...state, waits, state: waits === 0 ? 'ready' : 'pending' }
}

/** Where it stands for everybody but the worker that let its lease run out. */
export function stateAt({ state, leaseUntil = 0 }: StoredState, now: number): StepState {
  return state === 'running' && leaseUntil <= now ? 'ready' : state
}

/** A step as it is shown. */
export function toStep(work: StepWork, id: string, stored: StoredState): TaskStep {
  const { place: _, waits: __, leaseUntil, ...about } = stored
  const state = stateAt(stored, work.now)
  return {
    id,
    ...getPlan(work, id),
    ...about,
    state,
    ...(state === 'running' && leaseUntil !== undefined && { leaseUntil }),
  }
}
