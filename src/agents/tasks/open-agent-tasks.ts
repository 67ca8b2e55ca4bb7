import { ToolFailure } from '../../contract/base/errors.ts'
import type { AgentTasks, TaskBook, TaskOwner, Tasks } from '../../contract/services/tasks.ts'

/** More steps than a task has. */
const allSteps = 1_000_000

/** The tasks in the books of tenants, to look at. */
export function openAgentTasks(bookOf: (tenant: string) => TaskBook): AgentTasks {
  const tasksOf = ({ tenant = 'local', actor = 'user' }: TaskOwner): Tasks =>
    bookOf(tenant).open({
      tenant,
      actor,
      role: 'main',
      session: '',
      claims: [],
      ended: () => true,
      redact: (value) => value,
    })
  return {
    list: ({ ended = false, limit = 100, ...owner } = {}) =>
      tasksOf(owner).list({ ended, limit, offset: 0 }).tasks,
    find(id, owner = {}) {
      const tasks = tasksOf(owner)
      try {
        return { ...tasks.find(id), steps: tasks.steps(id, { limit: allSteps, offset: 0 }).steps }
      } catch (error) {
        if (error instanceof ToolFailure && error.reason === 'unknown_task') return undefined
        throw error
      }
    },
  }
}
