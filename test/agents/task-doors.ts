import { createRuntime, type Runtime, type RuntimeOptions, type Session, type ToolResult } from 'handrail'
import { taskTools } from 'handrail/tools'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'

/** Lets tasks be changed unasked. */
export const allowTasks = { rules: [{ effect: 'allow' as const, tools: ['agent.task_*'] }] }

/** A runtime with the tools for tasks, in memory unless the options say otherwise. */
export async function openTasks(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    project: makeFolder(),
    home: makeFolder(),
    tools: [taskTools()],
    policy: allowTasks,
    ...options,
  })
  atEnd(() => runtime.close())
  return runtime
}

/** What a step is in results. */
export interface ShownStep {
  step_id: string
  status: string
  attempt: number
  output?: unknown
  depends_on: string[]
  reason?: string
  worker?: { session: string }
}

/** The calls of one session, each of which has to go well. */
export function workOn(session: Session) {
  const call = async (tool: string, input: object): Promise<ToolResult> => {
    const result = await session.call(`agent.task_${tool}`, { ...input })
    if (!result.ok) throw new Error(`${tool}: ${result.error?.reason} ${result.error?.message}`)
    return result
  }
  const data = async <T>(tool: string, input: object): Promise<T> => (await call(tool, input)).data as T
  return {
    session,
    call,
    data,
    create: async (steps: readonly object[], more: object = {}) =>
      (await data<{ task: { task_id: string } }>('create', { title: 'Ship it', steps, ...more })).task
        .task_id,
    claim: async (task_id: string, step_id?: string) =>
      (await data<{ step?: ShownStep }>('claim_step', { task_id, ...(step_id !== undefined && { step_id }) }))
        .step,
    update: (task_id: string, { step_id, attempt }: ShownStep, says: object) =>
      data<{ step: ShownStep }>('update_step', { task_id, step_id, attempt, ...says }),
    change: (task_id: string, ...operations: readonly object[]) => call('update', { task_id, operations }),
    /** Where each step stands. */
    stand: async (task_id: string) => {
      const { steps } = await data<{ steps: ShownStep[] }>('query_steps', {
        task_id,
        status: 'all',
        limit: 500,
      })
      return Object.fromEntries(steps.map(({ step_id, status }) => [step_id, status]))
    },
    /** The reason for which a call is refused; undefined if it goes well. */
    refusal: async (tool: string, input: object) =>
      (await session.call(`agent.task_${tool}`, { ...input })).error?.reason,
  }
}

/** Steps by what they depend on. */
export function steps(graph: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(graph).map(([step_id, depends_on]) => ({
    step_id,
    title: `Do ${step_id}`,
    depends_on,
  }))
}
