import type { NewStep, NewTask, TaskOperation } from '../../contract/services/tasks.ts'
import { checkCycles } from './check-cycles.ts'
import { changeSteps, type Authoring } from './change-steps.ts'
import { endTask } from './end-task.ts'
import { refusal } from './refusals.ts'
import { getPlan, getTask, hasEnded, putTask, type StepWork } from './work.ts'

/** Makes a task with its steps. */
export function createTask(work: StepWork, given: NewTask): void {
  const id = work.task
  const { title, summary, owner, state = 'pending', steps = [], dependsOn = [] } = given
  for (const before of dependsOn) getTask(work, before)
  putTask(work, id, {
    title,
    ...(summary !== undefined && { summary }),
    ...(owner !== undefined && { owner }),
    state,
    dependsOn: [...new Set(dependsOn)],
    steps: 0,
    revision: 0,
    nextPlace: 0,
    createdAt: work.now,
    updatedAt: work.now,
  })
  const operations = steps.map((step: NewStep): TaskOperation => ({ op: 'add_step', step }))
  updateTask(work, operations)
}

/** Makes all these changes, in their order; a dependency may name a step that comes later. */
export function updateTask(work: StepWork, operations: readonly TaskOperation[]): void {
  const id = work.task
  const authoring: Authoring = { work, isNew: new Set(), linked: new Set() }
  const waiting = new Set<string>()
  for (const operation of operations) if (operation.op === 'update_task') changeTask(work, operation, waiting)
  changeSteps(
    authoring,
    operations.filter((operation) => operation.op !== 'update_task'),
  )
  checkCycles(
    {
      dependsOn: (step) => getPlan(work, step).dependsOn,
      changed: authoring.linked,
      isNew: (step) => authoring.isNew.has(step),
    },
    'step',
  )
  checkCycles(
    {
      dependsOn: (task) => getTask(work, task).dependsOn,
      changed: waiting,
      isNew: () => false,
    },
    'task',
  )
  const task = getTask(work, id)
  putTask(work, id, { ...task, revision: task.revision + 1 })
  for (const operation of operations)
    if (
      operation.op === 'update_task' &&
      operation.state !== undefined &&
      hasEnded({ state: operation.state })
    )
      endTask(work, id, { state: operation.state })
}

type TaskChange = Extract<TaskOperation, { op: 'update_task' }>

/** All but its end, which comes when all else is done. */
function changeTask(work: StepWork, operation: TaskChange, waiting: Set<string>): void {
  const id = work.task
  const { title, summary, owner, state, addDependsOn = [], removeDependsOn = [], addBlocks = [] } = operation
  const { reason, ...task } = getTask(work, id)
  for (const before of addDependsOn) getTask(work, before)
  const missing = removeDependsOn.filter((before) => !task.dependsOn.includes(before))
  if (missing[0] !== undefined)
    throw refusal('unknown_task', `The task "${id}" does not depend on the task "${missing[0]}".`)
  const left = task.dependsOn.filter((before) => !removeDependsOn.includes(before))
  const opens = state !== undefined && !hasEnded({ state })
  if (addDependsOn.length > 0) waiting.add(id)
  putTask(work, id, {
    ...task,
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(owner !== undefined && { owner }),
    ...(opens ? { state } : reason !== undefined && { reason }),
    dependsOn: [...new Set([...left, ...addDependsOn])],
  })
  for (const other of addBlocks) {
    const blocked = getTask(work, other)
    waiting.add(other)
    const dependsOn = [...new Set([...blocked.dependsOn, id])]
    putTask(work, other, { ...blocked, dependsOn, revision: blocked.revision + 1 })
  }
}
