import type { TaskBook, TaskCaller, Tasks } from '../../contract/services/tasks.ts'
import type { Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { claimStep } from './claim-step.ts'
import { createWriter } from './create-writer.ts'
import { Draft } from './draft.ts'
import { endTask } from './end-task.ts'
import { countSteps, listSteps, listTasks } from './look-at-tasks.ts'
import { updateStep } from './update-step.ts'
import { createTask, updateTask } from './update-task.ts'
import type { StepWork } from './work.ts'

/** The tasks in a store. `now` is in milliseconds since the epoch. */
export function createTaskBook({ store, now }: { store: Store; now: () => number }): TaskBook {
  const writer = createWriter(store)
  let newest = 0
  /** In the order in which they are made here, also those of one millisecond. */
  const nextId = (): string => newId('task', (newest = Math.max(now(), newest + 1)))
  return { open: (caller) => openTasks(caller) }

  function openTasks(caller: TaskCaller): Tasks {
    const change = <T>(task: string, work: (work: StepWork) => T): Promise<T> =>
      writer.change(caller, (draft) => work({ draft, caller, task, now: now() }))
    const look = (task = ''): StepWork => ({
      draft: new Draft(store, caller.tenant),
      caller,
      task,
      now: now(),
    })
    const { redact } = caller
    return {
      async create(task) {
        const clean = redact(task)
        return change(nextId(), (work) => {
          createTask(work, clean)
          return countSteps(work)
        })
      },
      find: (id) => countSteps(look(id)),
      list: (query) => listTasks(look(), query),
      steps: (task, query) => listSteps(look(task), query),
      async update(task, operations) {
        const clean = redact(operations)
        return change(task, (work) => {
          updateTask(work, clean)
          return countSteps(work)
        })
      },
      claim: (task, step) => change(task, (work) => claimStep(work, step)),
      async updateStep(update) {
        const clean = redact(update)
        return change(update.task, (work) => updateStep(work, clean))
      },
      async end(task, state, reason) {
        const clean = redact(reason)
        return change(task, (work) => {
          endTask(work, task, { state, reason: clean })
          return countSteps(work)
        })
      },
    }
  }
}
