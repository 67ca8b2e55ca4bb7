import type { JsonObject } from '../../contract/base/json.ts'
import { stepStates, type Task, type TaskCounts, type TaskStep } from '../../contract/services/tasks.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'

const text = { type: 'string' } as const
const count = { type: 'integer' } as const
const texts = { type: 'array', items: text } as const

/** What is told of a task. */
export const taskSchema = {
  type: 'object',
  properties: {
    task_id: text,
    title: text,
    summary: text,
    owner: text,
    status: text,
    reason: text,
    depends_on: texts,
    steps: { ...count, description: 'How many steps it has.' },
    created_at: text,
    updated_at: text,
  },
  required: ['task_id', 'title', 'status', 'depends_on', 'steps', 'created_at', 'updated_at'],
  additionalProperties: false,
} as const

/** How many steps stand where. */
export const countsSchema = {
  type: 'object',
  properties: {
    running: count,
    ready: count,
    pending: count,
    failed: count,
    completed: count,
    cancelled: count,
  },
  required: [...stepStates],
  additionalProperties: false,
} as const

/** What is told of a step. */
export const stepSchema = {
  type: 'object',
  properties: {
    step_id: text,
    title: text,
    description: text,
    depends_on: texts,
    status: text,
    attempt: { ...count, description: 'The number of its last claim.' },
    worker: {
      type: 'object',
      properties: { session: text, actor: text, role: text },
      required: ['session', 'actor', 'role'],
      additionalProperties: false,
    },
    lease_until: text,
    output: { description: 'What its worker said of it last.' },
    reason: text,
  },
  required: ['step_id', 'title', 'depends_on', 'status', 'attempt'],
  additionalProperties: false,
} as const

/** What changes of a task answer with. */
export const countedSchema = {
  type: 'object',
  properties: { task: taskSchema, counts: countsSchema },
  required: ['task', 'counts'],
  additionalProperties: false,
} as const

export function taskData({ id, state, dependsOn, createdAt, updatedAt, ...rest }: Task): JsonObject {
  return {
    task_id: id,
    ...rest,
    status: state,
    depends_on: [...dependsOn],
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  }
}

export function stepData({ id, state, dependsOn, leaseUntil, worker, ...rest }: TaskStep): JsonObject {
  return {
    step_id: id,
    ...rest,
    status: state,
    depends_on: [...dependsOn],
    ...(worker !== undefined && { worker: { ...worker } }),
    ...(leaseUntil !== undefined && { lease_until: new Date(leaseUntil).toISOString() }),
  }
}

/** A task in one line. */
export function taskLine({ id, state, title, owner, steps, dependsOn }: Task): string {
  const parts = [
    `${id}  ${state}  ${title}`,
    ...(owner === undefined ? [] : [`owner ${owner}`]),
    ...(steps === 0 ? [] : [`${steps} steps`]),
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.join(', ')}`]),
  ]
  return showControlsInLine(parts.join('; '))
}

/** A step in one line. */
export function stepLine({ id, state, title, dependsOn, attempt, reason }: TaskStep): string {
  const parts = [
    `${id}  ${state}  ${title}`,
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.join(', ')}`]),
    ...(state === 'running' ? [`attempt ${attempt}`] : []),
    ...(reason === undefined ? [] : [reason]),
  ]
  return showControlsInLine(parts.join('; '))
}

/** How many steps stand where, in words. */
export function countsLine(counts: TaskCounts['counts']): string {
  const some = stepStates.filter((state) => counts[state] > 0)
  return some.length === 0 ? 'no steps' : some.map((state) => `${counts[state]} ${state}`).join(', ')
}

/** What a change of a task answers with. */
export function countedOutput({ task, counts }: TaskCounts): ToolOutput {
  const line = `${taskLine(task)} (${countsLine(counts)})`
  return toolOutput({
    content: [{ type: 'text', text: line }],
    summary: line,
    data: { task: taskData(task), counts: { ...counts } },
  })
}
