import type { TaskState } from '../../contract/services/tasks.ts'
import { readPlace, stateGroup } from './names.ts'
import { refusal, someOf } from './refusals.ts'
import { getTask, hasEnded, putTask, type Work } from './work.ts'

/** Ends a task. One that has ended so before stays as it is. */
export function endTask(
  work: Work,
  id: string,
  end: { state: TaskState; reason?: string | undefined },
): void {
  const task = getTask(work, id)
  const { state, reason } = end
  if (task.state === state) return
  if (hasEnded(task))
    throw refusal('task_ended', `The task "${id}" is ${task.state} already, so it cannot be ${state}.`)
  if (state === 'completed') checkSteps(work, id, task.steps)
  const { reason: _, ...kept } = task
  putTask(work, id, { ...kept, state, revision: task.revision + 1, ...(reason !== undefined && { reason }) })
}

/** A step that is completed or cancelled stays that, unless an author changes the task. */
function checkSteps({ draft }: Work, task: string, steps: number): void {
  let over = 0
  for (const state of ['completed', 'cancelled'] as const)
    for (const _ of draft.ids('step', stateGroup(task, state))) over++
  if (over === steps) return
  for (const state of ['running', 'ready', 'pending', 'failed'] as const) {
    const left: string[] = []
    for (const id of draft.ids('step', stateGroup(task, state))) if (left.push(readPlace(id).step) > 5) break
    if (left.length > 0)
      throw refusal(
        'steps_open',
        `The task "${task}" cannot be completed: steps are ${state}: ${someOf(left)}. Complete, cancel or delete them first.`,
      )
  }
  throw refusal('steps_open', `Steps of the task "${task}" change at this moment. Complete it again.`)
}
