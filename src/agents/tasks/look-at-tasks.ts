import {
  stepStates,
  type StepQuery,
  type StepState,
  type Task,
  type TaskCounts,
} from '../../contract/services/tasks.ts'
import type { TaskQuery, TaskStep } from '../../contract/services/tasks.ts'
import { actorGroup, openGroup, readPlace, stateGroup, stateName, taskName } from './names.ts'
import { readTask, type StoredTask } from './stored.ts'
import { getState, getTask, stateAt, toStep, type StepWork, type Work } from './work.ts'

/** A task, and how many of its steps stand where. */
export function countSteps(work: StepWork): TaskCounts {
  const id = work.task
  const task = toTask(id, getTask(work, id))
  const counts = { running: 0, ready: 0, pending: 0, failed: 0, completed: 0, cancelled: 0 }
  for (const state of stepStates)
    for (const place of work.draft.ids('step', stateGroup(id, state)))
      counts[shownAs(place, state, work.now)]++
  return { task, counts }
}

/** A page of tasks, the newest first. */
export function listTasks(work: Work, query: TaskQuery): { tasks: Task[]; more: boolean } {
  const { draft, caller } = work
  const ids = [...draft.ids('task', query.ended ? actorGroup(caller.actor) : openGroup(caller.actor))]
  const tasks: Task[] = []
  let passed = 0
  for (const id of ids.toReversed()) {
    const task = readTask(draft.look(taskName(caller.actor, id)))
    if (task === undefined || (query.state !== undefined && task.state !== query.state)) continue
    if (passed++ < query.offset) continue
    if (tasks.length === query.limit) return { tasks, more: true }
    tasks.push(toTask(id, task))
  }
  return { tasks, more: false }
}

/** A page of steps. */
export function listSteps(work: StepWork, query: StepQuery): { steps: TaskStep[]; more: boolean } {
  getTask(work, work.task)
  const { now } = work
  const steps: TaskStep[] = []
  let passed = 0
  const seen = new Set<string>()
  for (const id of query.ids ?? stepsOf(work, query.state)) {
    // One that moves on meanwhile may be listed twice.
    if (seen.has(id)) continue
    seen.add(id)
    // One that was listed may have been deleted since.
    if (query.ids === undefined && work.draft.look(stateName(work.task, id)) === null) continue
    const state = getState(work, id)
    if (query.state !== undefined && stateAt(state, now) !== query.state) continue
    if (passed++ < query.offset) continue
    if (steps.length === query.limit) return { steps, more: true }
    steps.push(toStep(work, id, state))
  }
  return { steps, more: false }
}

/** Ids of steps that may stand there; those whose lease ran out are ready. */
function* stepsOf({ draft, task }: StepWork, wanted: StepState | undefined): IterableIterator<string> {
  const states = stepStates.filter(
    (state) => wanted === undefined || state === wanted || (wanted === 'ready' && state === 'running'),
  )
  for (const state of states)
    for (const place of draft.ids('step', stateGroup(task, state))) yield readPlace(place).step
}

function shownAs(place: string, state: StepState, now: number): StepState {
  return state === 'running' && readPlace(place).order <= now ? 'ready' : state
}

function toTask(id: string, stored: StoredTask): Task {
  const { revision: _, nextPlace: __, ...task } = stored
  return { id, ...task }
}
