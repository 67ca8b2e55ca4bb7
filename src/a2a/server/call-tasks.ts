import { TaskState, type Task } from '@a2a-js/sdk'
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import type { AskedCall } from './read-request.ts'
import { openPeerSession, runCall, type CallSurroundings } from './run-call.ts'
import { openTaskBook } from './task-book.ts'
import { toBareTask, toEndedTask } from './to-task.ts'
import type { Verified } from './verify-token.ts'

/** The calls of peers, as tasks of A2A. */
export interface CallTasks {
  /** Uses up a token that begins no task. False if it was used before. */
  useToken(verified: Verified): Promise<boolean>
  /** Begins the call that a token is for. Undefined if the token was used before; then nothing happens. */
  begin(verified: Verified, call: AskedCall): Promise<Task | undefined>
  /** How a task is once it has ended, or after this time. Throws an error of A2A if the peer has no such task. */
  follow(verified: Verified, id: string, withinMs: number): Promise<Task>
  cancel(verified: Verified, id: string): Promise<Task>
  /** How many tasks of a peer run. */
  running(issuer: string): number
  /** Lets what runs end for so long, and aborts the rest. */
  close(graceMs: number): Promise<void>
}

interface Running {
  readonly issuer: string
  readonly abort: AbortController
  readonly ended: Promise<void>
  task: Task
}

/** No tasks yet. Those of before, and of other processes, are in the store. */
export function createCallTasks(surroundings: CallSurroundings, log: (line: string) => void): CallTasks {
  const { store } = surroundings.runtime
  const book = openTaskBook(store)
  const running = new Map<string, Running>()

  const own = ({ peer }: Verified, id: string): Running | undefined => {
    const found = running.get(id)
    return found?.issuer === peer.issuer ? found : undefined
  }
  const perform = async (verified: Verified, call: AskedCall, entry: Running): Promise<void> => {
    const { id } = entry.task
    const onNews = (message: string): void => {
      entry.task = toBareTask(id, TaskState.TASK_STATE_WORKING, { message })
    }
    try {
      const session = openPeerSession(surroundings, verified.peer)
      try {
        const watch = { signal: entry.abort.signal, onNews }
        const result = await runCall(session, { call, verified, watch }, surroundings)
        entry.task = toEndedTask(id, result, findRecord(store, verified, result))
      } finally {
        await session.close()
      }
    } catch (error) {
      log(`a2a: a call of "${verified.peer.issuer}" failed: ${messageOf(error)}`)
      entry.task = toBareTask(id, TaskState.TASK_STATE_FAILED, { message: defect })
    }
    await book
      .end(verified, entry.task)
      .catch((error: unknown) => log(`a2a: the end of a task is not kept: ${messageOf(error)}`))
  }
  const find = (verified: Verified, id: string): Task => {
    const noted = book.find(verified, id)
    if (noted === undefined) throw new TaskNotFoundError(`There is no task "${id.slice(0, 80)}".`)
    if (!noted.abandoned || isOver(noted.task)) return noted.task
    return toBareTask(id, TaskState.TASK_STATE_FAILED, { message: cutOff, facts: { outcome: 'unknown' } })
  }
  return {
    useToken: (verified) => book.useToken(verified),
    async begin(verified, call) {
      const id = newId('task', Date.now())
      const task = toBareTask(id, TaskState.TASK_STATE_WORKING, { message: '' })
      if (!(await book.begin(verified, task))) return undefined
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const entry: Running = { issuer: verified.peer.issuer, abort: new AbortController(), ended, task }
      running.set(id, entry)
      void perform(verified, call, entry).then(() => {
        running.delete(id)
        resolve()
      })
      return entry.task
    },
    async follow(verified, id, longestMs) {
      const entry = own(verified, id)
      if (entry === undefined) return find(verified, id)
      await withinMs(entry.ended, longestMs)
      return entry.task
    },
    async cancel(verified, id) {
      const entry = own(verified, id)
      if (entry === undefined) {
        const task = find(verified, id)
        if (isOver(task)) throw new TaskNotCancelableError(`The task "${id}" is over.`)
        throw new TaskNotCancelableError(`The task "${id}" runs in another process.`)
      }
      entry.abort.abort()
      await entry.ended
      return entry.task
    },
    running: (issuer) => [...running.values()].filter((each) => each.issuer === issuer).length,
    async close(graceMs) {
      const ended = Promise.all([...running.values()].map((each) => each.ended))
      if (await withinMs(ended, graceMs)) return
      for (const { abort } of running.values()) abort.abort()
      await ended
    },
  }
}

const defect = 'Handrail failed on this call; its operator finds the cause in its log.'
const cutOff =
  'The process that did the call is gone. Whether it was done is not known: look before you call again.'

function isOver({ status }: Task): boolean {
  const { state = TaskState.TASK_STATE_UNSPECIFIED } = status ?? {}
  return state !== TaskState.TASK_STATE_WORKING && state !== TaskState.TASK_STATE_SUBMITTED
}

/** The hash of the record of the end, which the other side keeps with its own. */
function findRecord(store: Store, { peer }: Verified, { callId }: ToolResult): string | undefined {
  const [end] = store.records({ tenant: peer.tenant ?? 'local', call: callId, kind: 'end' })
  return end?.hash
}
