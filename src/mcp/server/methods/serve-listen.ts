import {
  ProtocolError,
  ProtocolErrorCode,
  SUBSCRIPTION_ID_META_KEY,
  type Result,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import type { ClientSession } from '../session/client-session.ts'
import { guarded } from '../calls/guarded.ts'
import type { CallTask } from '../tasks/call-task.ts'
import type { ClientTasks } from '../tasks/client-tasks.ts'
import { mustTakeTasks, toTaskDetails } from '../tasks/modern-tasks.ts'
import type { ChangeKind, Changes } from '../session/changes.ts'

/** What a client without a connection hears changes by (2026-07-28): a request that stays open. */
export const listenMethod = 'subscriptions/listen'

/** So many of one caller at a time. */
export const maxListeners = 16

/** What a client wants to hear of; a kind that is not there is not heard of. */
interface Filter {
  readonly kinds: ReadonlySet<ChangeKind>
  /** Undefined if it says nothing of tasks. */
  readonly taskIds: readonly unknown[] | undefined
}

/** What changes for a client. */
export interface ListenOptions {
  readonly client: ClientSession
  readonly tasks: ClientTasks
  readonly log: (line: string) => void
}

/**
 * Answers `subscriptions/listen`: says at once what the client will hear of, then tells of it, and ends when the client goes, or its
 * session does.
 */
export function serveListen(server: Server, { client, tasks, log }: ListenOptions): void {
  const { changes } = client
  const follow = async ({ kinds, taskIds }: Filter, context: ServerContext): Promise<Result> => {
    if (taskIds !== undefined) mustTakeTasks(server, context)
    if (changes.size >= maxListeners)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `${maxListeners} streams of this caller are open, which is all there may be. Close one first.`,
      )
    // What they are now is what changes are told against.
    client.noteTools()
    const followed = tasks.all().filter(({ id }) => taskIds?.includes(id))
    const ended =
      kinds.size > 0 || followed.length > 0 ? untilEnd({ kinds, context, changes, log }) : undefined
    const notifications = {
      ...toAgreed(kinds),
      ...(followed.length > 0 && { taskIds: followed.map(({ id }) => id) }),
    }
    await notify(context, 'notifications/subscriptions/acknowledged', { notifications })
    const stops = followed.map((task) => notifyOfTask(task, context, log))
    await ended
    for (const stop of stops) stop()
    return { _meta: { [SUBSCRIPTION_ID_META_KEY]: context.mcpReq.id } }
  }
  server.setRequestHandler(listenMethod, { params: filterSchema }, (filter, context) =>
    guarded(log, () => follow(filter, context)),
  )
}

/** Tells how it stands, now and whenever it changes. Returns what stops that. */
function notifyOfTask(task: CallTask, context: ServerContext, log: (line: string) => void): () => void {
  const onFault = (cause: unknown): void => log(`mcp: a task could not be told of: ${String(cause)}`)
  const notifyNow = (): void =>
    void notify(context, 'notifications/tasks', toTaskDetails(task)).catch(onFault)
  notifyNow()
  return task.follow(notifyNow)
}

interface Listening {
  readonly kinds: ReadonlySet<ChangeKind>
  readonly context: ServerContext
  readonly changes: Changes
  readonly log: (line: string) => void
}

function untilEnd({ kinds, context, changes, log }: Listening): Promise<void> {
  const { signal } = context.mcpReq
  const onFault = (cause: unknown): void => log(`mcp: a change could not be told: ${String(cause)}`)
  return new Promise((resolve) => {
    const stop = changes.follow(
      {
        kinds,
        notify: (kind) => void notify(context, `notifications/${kind}/list_changed`, {}).catch(onFault),
        onFault,
      },
      resolve,
    )
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function notify({ mcpReq }: ServerContext, method: string, params: Record<string, unknown>): Promise<void> {
  return mcpReq.notify({ method, params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: mcpReq.id } } })
}

const fields = { tools: 'toolsListChanged', resources: 'resourcesListChanged' } as const

function toAgreed(kinds: ReadonlySet<ChangeKind>): Record<string, boolean> {
  return Object.fromEntries([...kinds].map((kind) => [fields[kind], true]))
}

/** Prompts, and single resources, are nothing that changes here. */
const filterSchema: StandardSchemaV1<Filter> = {
  '~standard': {
    version: 1,
    vendor: 'handrail',
    validate(value) {
      const wanted = isPlainObject(value) ? value['notifications'] : undefined
      if (!isPlainObject(wanted))
        return { issues: [{ message: 'notifications must be an object that says of what' }] }
      const kinds = (['tools', 'resources'] as const).filter((kind) => wanted[fields[kind]] === true)
      const taskIds = wanted['taskIds']
      return { value: { kinds: new Set(kinds), taskIds: Array.isArray(taskIds) ? taskIds : undefined } }
    },
  },
}
