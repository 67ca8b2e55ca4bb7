import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { declaredBy } from '../calls/call-dispatcher.ts'
import { guarded } from '../calls/guarded.ts'
import type { CallTask } from './call-task.ts'
import type { ClientTasks } from './client-tasks.ts'
import { taskParams } from './task-params.ts'
import { asCreatedTask } from '../session/task-server.ts'

/** Name of the extension, as client and server declare it. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** How often a client should look, in milliseconds. */
export const pollMs = 1_000

/** Whether a client of 2026-07-28 can be answered with a task. */
export function takesTasks({ extensions }: JsonObject): boolean {
  return isPlainObject(extensions) && isPlainObject(extensions[tasksExtension])
}

/** The tasks extension of 2026-07-28: clients look for what became of a task, and bring what it needs. */
export function serveModernTasks(server: Server, tasks: ClientTasks, log: (line: string) => void): void {
  const on = (method: string, answer: (task: CallTask, context: ServerContext) => Result): void =>
    server.setRequestHandler(method, { params: taskParams }, (params, context) =>
      guarded(log, () => {
        mustTakeTasks(server, context)
        return answer(tasks.find(params.taskId), context)
      }),
    )
  on('tasks/get', toTaskDetails)
  on('tasks/update', ({ inputs }, { mcpReq: { inputResponses } }) => {
    if (inputResponses === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'inputResponses is missing.')
    for (const input of inputs) input.answer(inputResponses)
    return {}
  })
  on('tasks/cancel', (task) => {
    task.cancel()
    return {}
  })
}

/** What `tools/call` answers where the call became a task. */
export function toModernTask(task: CallTask): CallToolResult {
  return asCreatedTask({ resultType: 'task', ...describe(task) })
}

/** All that there is to say of a task. */
export function toTaskDetails(task: CallTask): Result {
  const { status, inputs, outcome } = task
  return {
    ...describe(task),
    ...(status === 'input_required' && {
      inputRequests: Object.assign({}, ...[...inputs].map(({ requests }) => requests)),
    }),
    ...(status === 'completed' &&
      outcome !== undefined &&
      'result' in outcome && { result: { resultType: 'complete', ...outcome.result } }),
    ...(status === 'failed' && outcome !== undefined && 'error' in outcome && { error: toError(outcome) }),
  }
}

function describe({ id, status, message, createdAt, updatedAt, ttlMs }: CallTask) {
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs: pollMs,
  }
}

function toError({ error }: { error: { code: number; message: string; data?: unknown } }) {
  const { code, message, data } = error
  return { code, message, ...(data !== undefined && { data }) }
}

/** Throws a protocol error for a request that does not declare the extension. */
export function mustTakeTasks(server: Server, context: ServerContext): void {
  if (takesTasks(declaredBy({ server, context, era: 'modern' }))) return
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    `Requests about tasks are for clients that declare the extension ${tasksExtension} with each request.`,
  )
}
