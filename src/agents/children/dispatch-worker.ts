import type { StartingCall } from '../../contract/agent-host.ts'
import type { ChildReport, ChildWish, WorkerOrder, WorkerReport } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { StepScope, Tasks, TaskStep } from '../../contract/base/tasks.ts'
import { refusal, someOf } from '../tasks/refusals.ts'
import type { ChildPorts } from './child-ports.ts'
import type { Pool } from './worker-pools.ts'

/** Steps that are looked at, at a time. */
const page = 500

/** The steps that a worker may claim. Throws `unknown_task`, `task_ended` or `unknown_step` if it could do nothing there. */
export function toClaims({ task: id, steps }: WorkerOrder, tasks: Tasks): StepScope {
  const { task } = tasks.find(id)
  if (task.state === 'completed' || task.state === 'failed' || task.state === 'cancelled')
    throw refusal('task_ended', `The task "${id}" is ${task.state}, so there is nothing for a worker to do.`)
  if (steps === undefined) return { task: id }
  const there = new Set(allOf(tasks, id, { ids: steps }).map((step) => step.id))
  const missing = steps.filter((step) => !there.has(step))
  if (missing.length > 0)
    throw refusal(
      'unknown_step',
      `The task "${id}" has no step ${someOf(missing)}. agent.task_get shows its steps.`,
    )
  return { task: id, steps }
}

/** What the run of a worker is asked for. */
export function toWish(
  { instruction, context, allowedTools }: WorkerOrder,
  { pool, worker, claims: { task, steps } }: { pool: Pool; worker: string; claims: StepScope },
): ChildWish {
  const which =
    steps === undefined
      ? 'Claim the steps that are ready, one after the other.'
      : `Claim these steps alone: ${steps.join(', ')}.`
  return {
    kind: 'worker',
    task: [
      `You are the worker "${worker}", and do steps of the task "${task}". ${which} Claim a step with agent.task_claim_step before you do it, and say with agent.task_update_step that it is completed or failed, with the attempt that the claim gave, before you claim the next one. End when there is no step left that you may claim.`,
      instruction,
      ...(context === undefined ? [] : [`What you have to know:\n${context}`]),
    ].join('\n\n'),
    definition: pool.definition,
    allowedTools: allowedTools ?? pool.allowedTools,
  }
}

/**
 * Closes the steps that a worker had claimed as its run ended: it leaves them behind. What it did is not known to be whole, so they have failed; those of
 * one that was aborted can be claimed again.
 */
export async function closeSteps(
  { agent, endReason = '' }: ChildReport,
  about: { call: StartingCall; claims: StepScope; ports: ChildPorts },
): Promise<WorkerReport['left']> {
  const { call, claims, ports } = about
  const tasks = ports.tasksOf(call.session, agent)
  const state = endReason === 'aborted' || endReason === 'aborted_tools' ? 'ready' : 'failed'
  const reason = `Its worker ended (${endReason}) before it closed the step.`
  const left: { step: string; state: 'failed' | 'ready' }[] = []
  for (const { id: step, attempt, worker } of allOf(tasks, claims.task, { state: 'running' })) {
    if (worker?.session !== agent) continue
    try {
      await tasks.updateStep({ task: claims.task, step, attempt, state, reason })
      left.push({ step, state })
    } catch (error) {
      // Another one has it, or the task has ended: there is nothing to close.
      if (!(error instanceof ToolFailure) || !isOver.has(error.reason)) throw error
    }
  }
  return left
}

const isOver: ReadonlySet<string> = new Set(['claim_lost', 'task_ended', 'unknown_step', 'unknown_task'])

function allOf(
  tasks: Tasks,
  task: string,
  query: { state?: 'running'; ids?: readonly string[] },
): TaskStep[] {
  const all: TaskStep[] = []
  for (;;) {
    const { steps, more } = tasks.steps(task, { ...query, limit: page, offset: all.length })
    all.push(...steps)
    if (!more || steps.length === 0) return all
  }
}
