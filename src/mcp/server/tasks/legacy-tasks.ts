import {
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type CallToolResult,
  type Result,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import type { ProgressUpdate } from '../calls/create-progress.ts'
import type { OpenCall } from '../calls/open-call.ts'
import { guarded } from '../calls/guarded.ts'
import type { CallTask, CallTaskOptions, TaskOutcome } from './call-task.ts'
import type { TaskInput } from './task-input.ts'
import { isOver } from './task-state.ts'
import { noRoom, type ClientTasks } from './client-tasks.ts'
import { pollMs } from './modern-tasks.ts'
import { taskParams } from './task-params.ts'
import { asCreatedTask } from '../session/task-server.ts'
import { longestMs } from '../../../kit/time/longest-ms.ts'

/** What is said of it when a client shakes hands. */
export const legacyTaskCapability = { list: {}, cancel: {}, requests: { tools: { call: {} } } }

/** What a client asks for that wants its call as a task. */
export interface AskedTask {
  readonly ttl?: number | undefined
}

/** Tasks of 2025-11-25: a client asks for one, and waits for its end by `tasks/result`, where it is asked for input too. */
export interface LegacyTasks {
  /** Answers `tools/call` with a task. Throws a protocol error where no more can be kept, before the call begins. */
  open(asked: AskedTask, start: StartTask): CallToolResult
}

/** How the call begins that becomes a task. */
export interface StartTask extends Pick<CallTaskOptions, 'toResult'> {
  readonly begin: () => OpenCall
  /** Of the request that asks for the task. It holds as long as the task. */
  readonly progressToken: string | number | undefined
}

export interface LegacyTaskOptions {
  readonly server: Server
  readonly tasks: ClientTasks
  readonly everyTask: StandardSchemaV1<object>
  readonly log: (line: string) => void
}

export function serveLegacyTasks({ server, tasks, everyTask, log }: LegacyTaskOptions): LegacyTasks {
  /** The request that waits for the end of a task, the latest one. */
  const waiting = new Map<string, ServerContext>()
  const courier = createCourier(server, log)
  const notify = (sent: Promise<void>): void =>
    void sent.catch((error: unknown) => log(`mcp: a task could not be told of: ${String(error)}`))

  const onStatus = (task: CallTask): void => {
    notify(server.notification({ method: 'notifications/tasks/status', params: toLegacyTask(task) }))
  }
  const onInput = (task: CallTask, input: TaskInput): void => courier.bring(task, input, waiting.get(task.id))
  const onProgress = (task: CallTask, progressToken: string | number, update: ProgressUpdate): void => {
    const notification = {
      method: 'notifications/progress',
      params: { progressToken, ...update, _meta: relatedTo(task) },
    }
    const here = waiting.get(task.id)
    notify(here === undefined ? server.notification(notification) : here.mcpReq.notify(notification))
  }
  const result = async (task: CallTask, context: ServerContext): Promise<CallToolResult> => {
    const leave = (): void => {
      if (waiting.get(task.id) === context) waiting.delete(task.id)
    }
    waiting.set(task.id, context)
    context.mcpReq.signal.addEventListener('abort', leave, { once: true })
    for (const input of task.inputs) courier.bring(task, input, context)
    const outcome = await task.ended
    leave()
    if ('error' in outcome) throw outcome.error
    return { ...outcome.result, _meta: { ...outcome.result._meta, ...relatedTo(task) } }
  }

  const on = (method: string, answer: (task: CallTask, context: ServerContext) => Result | Promise<Result>) =>
    server.setRequestHandler(method, { params: taskParams }, (params, context) =>
      guarded(log, () => answer(tasks.find(params.taskId), context)),
    )
  on('tasks/get', toLegacyTask)
  on('tasks/result', result)
  on('tasks/cancel', (task) => {
    if (task.cancel()) return toLegacyTask(task)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `The task "${task.id}" is over already: ${toLegacyTask(task).status}. There is nothing to cancel.`,
    )
  })
  server.setRequestHandler('tasks/list', { params: everyTask }, () => ({
    tasks: tasks.all().map(toLegacyTask),
  }))

  return {
    open({ ttl }, { begin, toResult, progressToken }) {
      if (!tasks.hasRoom()) throw noRoom()
      const call = begin()
      const task = tasks.open({
        call,
        next: call.next(),
        toResult,
        onStatus,
        onInput,
        ...(ttl !== undefined && { ttlMs: ttl }),
        ...(progressToken !== undefined && {
          onProgress: (of: CallTask, update: ProgressUpdate) => onProgress(of, progressToken, update),
        }),
      })
      return asCreatedTask({ task: toLegacyTask(task) })
    },
  }
}

/**
 * Brings what a task needs to its client: on the stream of the request that waits for its end, or, where none does, on the session's own.
 * Where neither takes it, it is brought when a request comes to wait.
 */
function createCourier(server: Server, log: (line: string) => void) {
  const underWay = new WeakMap<TaskInput, Delivery>()

  const put = async (task: CallTask, input: TaskInput, context: ServerContext | undefined): Promise<void> => {
    const withdrawn = new AbortController()
    const on = context === undefined ? streamOf(server) : context
    underWay.set(input, { on, withdrawn })
    // The call's own time limit ends it.
    const options = { signal: AbortSignal.any([input.signal, withdrawn.signal]), timeout: longestMs }
    try {
      for (const [key, { method, params }] of Object.entries(input.requests)) {
        const request = { method, params: { ...params, _meta: { ...params?._meta, ...relatedTo(task) } } }
        const response = await (context === undefined
          ? server.request(request, options)
          : context.mcpReq.send(request, options))
        input.answer({ [key]: response })
      }
    } catch (error) {
      if (underWay.get(input)?.withdrawn === withdrawn) underWay.delete(input)
      if (withdrawn.signal.aborted || input.signal.aborted) return
      if (error instanceof ProtocolError) return input.refuse(`the client refused: ${error.message}`)
      log(`mcp: a task waits for its client: ${String(error)}`)
    }
  }
  return {
    bring(task: CallTask, input: TaskInput, context: ServerContext | undefined): void {
      const before = underWay.get(input)
      // A request that waits anew may follow one that was lost. The session's own stream may still be there, and a person at the question.
      if (before !== undefined && before.on === streamOf(server)) return
      before?.withdrawn.abort()
      void put(task, input, context)
    },
  }
}

/** A question that is with the client. */
interface Delivery {
  /** The request or the stream that it was put on. */
  readonly on: object | undefined
  readonly withdrawn: AbortController
}

/** The session's own stream. Where the session has nothing else it is undefined, and is not lost before the session is. */
function streamOf({ transport }: Server): object | undefined {
  const stream = transport !== undefined && 'stream' in transport ? transport.stream : undefined
  return typeof stream === 'object' && stream !== null ? stream : undefined
}

function relatedTo({ id }: CallTask) {
  return { [RELATED_TASK_META_KEY]: { taskId: id } }
}

/** In this revision a result that is an error makes the task a failed one. */
function toLegacyTask(task: CallTask) {
  const { id, status, message, createdAt, updatedAt, ttlMs, outcome } = task
  const fault = status === 'completed' ? faultOf(outcome) : undefined
  const statusMessage = fault ?? message
  return {
    taskId: id,
    status: fault === undefined ? status : ('failed' as const),
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttl: ttlMs,
    ...(!isOver(status) && { pollInterval: pollMs }),
  }
}

function faultOf(outcome: TaskOutcome | undefined): string | undefined {
  if (outcome === undefined || !('result' in outcome) || outcome.result.isError !== true) return undefined
  const [first] = outcome.result.content
  return first?.type === 'text' ? first.text : 'The call failed.'
}
