import type { NewStep, TaskOperation } from '../../contract/services/tasks.ts'
import { afterName, planName, stateName } from './names.ts'
import { refusal, someOf } from './refusals.ts'
import { toStored, type StoredState } from './stored.ts'
import {
  dependentsOf,
  getOpenTask,
  getPlan,
  getState,
  moveStep,
  putState,
  putTask,
  stateAt,
  withWaits,
  type StepWork,
} from './work.ts'

/** What one call of an author does to the steps of a task. */
export interface Authoring {
  readonly work: StepWork
  /** Steps that it added. */
  readonly isNew: Set<string>
  /** Steps that depend on one more. */
  readonly linked: Set<string>
}

type StepOperation = Exclude<TaskOperation, { op: 'update_task' }>

const mostSteps = 20_000

/** Makes these changes in their order. What new steps depend on is looked at last, so that it may be new itself. */
export function changeSteps(authoring: Authoring, operations: readonly StepOperation[]): void {
  if (operations.length === 0) return
  getOpenTask(authoring.work, authoring.work.task)
  const added: NewStep[] = []
  for (const operation of operations) {
    if (operation.op === 'add_step') added.push(addStep(authoring, operation.step))
    else changeStep(authoring, operation)
  }
  for (const { id, dependsOn = [] } of added) link(authoring, id, dependsOn)
}

function changeStep(authoring: Authoring, operation: Exclude<StepOperation, { op: 'add_step' }>): void {
  const { work } = authoring
  const { step } = operation
  switch (operation.op) {
    case 'update_step': {
      const { title, description } = operation
      const plan = getPlan(work, step)
      const changes = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
      }
      return work.draft.write(planName(work.task, step), toStored({ ...plan, ...changes }))
    }
    case 'delete_step':
      return deleteStep(authoring, step)
    case 'add_dependency':
      return link(authoring, step, [operation.dependsOn])
    case 'remove_dependency':
      return unlink(authoring, step, operation.dependsOn)
    case 'cancel_step':
      return cancelStep(authoring, step, operation.reason)
    case 'reopen_step':
      return reopenStep(authoring, step)
  }
}

function addStep({ work, isNew }: Authoring, given: NewStep): NewStep {
  const { id, title, description } = given
  const { draft, task } = work
  if (draft.read(stateName(task, id)) !== null)
    throw refusal('step_exists', `The task "${task}" has a step "${id}" already. Nothing was changed.`)
  const stored = getOpenTask(work, task)
  if (stored.steps >= mostSteps)
    throw refusal(
      'too_many_steps',
      `A task has at most ${mostSteps} steps. Make another task for the others.`,
    )
  putTask(work, task, { ...stored, steps: stored.steps + 1, nextPlace: stored.nextPlace + 1 })
  const about = { title, ...(description !== undefined && { description }), dependsOn: [] }
  draft.write(planName(task, id), toStored(about))
  putState(work, id, { state: 'ready', place: stored.nextPlace, waits: 0, attempt: 0 })
  isNew.add(id)
  return given
}

function link({ work, linked }: Authoring, id: string, ons: readonly string[]): void {
  const plan = getPlan(work, id)
  const added = [...new Set(ons)].filter((on) => !plan.dependsOn.includes(on))
  if (added.length === 0) return
  const { leaseUntil: _, ...stored } = getState(work, id)
  const state = { ...stored, state: stateAt(getState(work, id), work.now) }
  if (state.state !== 'pending' && state.state !== 'ready') throw started(id, state, 'depend on another step')
  const open = added.filter((on) => getState(work, on).state !== 'completed')
  work.draft.write(planName(work.task, id), toStored({ ...plan, dependsOn: [...plan.dependsOn, ...added] }))
  for (const on of added) work.draft.write(afterName(work.task, on, id), true)
  putState(work, id, withWaits(state, state.waits + open.length))
  linked.add(id)
}

function unlink({ work }: Authoring, id: string, on: string): void {
  const plan = getPlan(work, id)
  if (!plan.dependsOn.includes(on))
    throw refusal(
      'unknown_step',
      `The step "${id}" does not depend on the step "${on}". Nothing was changed.`,
    )
  const state = getState(work, id)
  const open = getState(work, on).state !== 'completed'
  const dependsOn = plan.dependsOn.filter((other) => other !== on)
  work.draft.write(planName(work.task, id), toStored({ ...plan, dependsOn }))
  work.draft.write(afterName(work.task, on, id), undefined)
  putState(work, id, withWaits(state, state.waits - Number(open)))
}

function deleteStep({ work, isNew, linked }: Authoring, id: string): void {
  const state = getState(work, id)
  if (stateAt(state, work.now) === 'running') throw started(id, state, 'be deleted')
  const dependents = dependentsOf(work, id)
  if (dependents.length > 0)
    throw refusal(
      'dependency_needed',
      `The step "${id}" cannot be deleted: these depend on it: ${someOf(dependents)}. Nothing was changed.`,
    )
  for (const on of getPlan(work, id).dependsOn) work.draft.write(afterName(work.task, on, id), undefined)
  work.draft.write(planName(work.task, id), undefined)
  putState(work, id, undefined)
  const stored = getOpenTask(work, work.task)
  putTask(work, work.task, { ...stored, steps: stored.steps - 1 })
  isNew.delete(id)
  linked.delete(id)
}

function cancelStep({ work }: Authoring, id: string, reason: string | undefined): void {
  const { reason: _, leaseUntil: __, ...state } = getState(work, id)
  if (state.state === 'completed') throw started(id, state, 'be cancelled')
  moveStep(work, id, { ...state, state: 'cancelled', ...(reason !== undefined && { reason }) })
}

function reopenStep({ work }: Authoring, id: string): void {
  const { reason: _, output: __, leaseUntil: ___, ...state } = getState(work, id)
  if (state.state === 'pending' || stateAt(getState(work, id), work.now) === 'ready') return
  if (state.state === 'running') throw started(id, state, 'be reopened')
  if (state.state === 'completed') {
    const begun = dependentsOf(work, id).filter((dependent) =>
      ['running', 'completed'].includes(getState(work, dependent).state),
    )
    if (begun.length > 0)
      throw refusal(
        'dependency_needed',
        `The step "${id}" cannot be reopened: these went on from it: ${someOf(begun)}. Reopen or cancel them first. Nothing was changed.`,
      )
  }
  moveStep(work, id, withWaits({ ...state, state: 'pending' }, state.waits))
}

function started(id: string, { state }: Pick<StoredState, 'state'>, what: string): Error {
  return refusal('step_started', `The step "${id}" is ${state}, so it cannot ${what}. Nothing was changed.`)
}
