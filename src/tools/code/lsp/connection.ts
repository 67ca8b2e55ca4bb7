import { ToolFailure } from '../../../contract/base/errors.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { createFrameReader, toFrame } from './frames.ts'
import { ServerTrouble } from './server-trouble.ts'

/** Both sides of a talk with a language server. */
export interface Connection {
  /**
   * Asks, and returns the result. Rejects with a `ServerTrouble` if the server answers with an error, not in time, or not any more, and
   * with `TOOL.ABORTED` if the signal is aborted; the server is told of both.
   */
  request(method: string, params: object, bounds: RequestBounds): Promise<unknown>
  notify(method: string, params: object): void
  /** Takes what the server wrote. */
  take(bytes: Buffer): void
  /** Ends it: what waits is rejected with this. */
  end(trouble: ServerTrouble): void
  /** Whether the server said that it works on something, such as its index, and has not ended. */
  isWorking(): boolean
}

/** How long a request may take. */
export interface RequestBounds {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** What a connection stands on. */
export interface ConnectionOptions {
  send(bytes: Buffer): void
  /** What to answer to a request of the server; undefined for one that is not known. */
  answer(method: string, params: unknown): unknown
  /** Told once, when the server wrote what it must not. */
  onTrouble(trouble: ServerTrouble): void
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Bytes that a server may write from one question to the next. */
const maxBytesAQuestion = 32 * 1024 * 1024

/** A connection to a server that was not greeted yet. */
export function createConnection(options: ConnectionOptions): Connection {
  const waiting = new Map<number, Waiting>()
  const work = new Set<unknown>()
  let trouble: ServerTrouble | undefined
  let lastId = 0
  let bytesSoFar = 0

  const end = (why: ServerTrouble): void => {
    trouble ??= why
    for (const asked of waiting.values()) asked.reject(trouble)
    waiting.clear()
  }
  const tell = (message: object): void => {
    if (trouble === undefined) options.send(toFrame(message))
  }
  const onRequest = (id: unknown, method: string, params: unknown): void => {
    const result = options.answer(method, params)
    if (result !== undefined) tell({ id, result })
    else
      tell({ id, error: { code: methodNotFound, message: `There is no method "${method.slice(0, 80)}".` } })
  }
  const onAnswer = (message: Record<string, unknown>): void => {
    const id = Number(message['id'])
    const asked = waiting.get(id)
    if (asked === undefined) return
    waiting.delete(id)
    if (message['error'] === undefined) asked.resolve(message['result'])
    else asked.reject(toAnswerTrouble(message['error']))
  }
  const onMessage = (message: unknown): void => {
    if (!isPlainObject(message)) throw new Error('it wrote something that is no message')
    const { id, method, params } = message
    if (typeof method !== 'string') onAnswer(message)
    else if (id !== undefined) onRequest(id, method, params)
    else if (method === '$/progress') noteProgress(params, work)
  }
  const read = createFrameReader(onMessage)
  return {
    request(method, params, { timeoutMs, signal }) {
      if (trouble !== undefined) return Promise.reject(trouble)
      bytesSoFar = 0
      const id = ++lastId
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
          waiting.delete(id)
        }
        const leave = (error: Error): void => {
          settle()
          tell({ method: '$/cancelRequest', params: { id } })
          reject(error)
        }
        const onAbort = (): void => leave(aborted())
        const onTime = (): void =>
          leave(new ServerTrouble(`it did not answer "${method}" in ${timeoutMs} ms`))
        const timer = setTimeout(onTime, timeoutMs)
        signal.addEventListener('abort', onAbort)
        waiting.set(id, {
          resolve: (result) => (settle(), resolve(result)),
          reject: (error) => (settle(), reject(error)),
        })
        if (signal.aborted) onAbort()
        else tell({ id, method, params })
      })
    },
    notify: (method, params) => tell({ method, params }),
    take(bytes) {
      if (trouble !== undefined) return
      try {
        bytesSoFar += bytes.length
        if (bytesSoFar > maxBytesAQuestion) throw new Error('it wrote without an end')
        read(bytes)
      } catch (error) {
        end(new ServerTrouble(error instanceof SyntaxError ? 'it wrote broken JSON' : messageOf(error)))
        if (trouble !== undefined) options.onTrouble(trouble)
      }
    },
    end,
    isWorking: () => work.size > 0,
  }
}

/** Codes of JSON-RPC and of the Language Server Protocol. */
const methodNotFound = -32_601
const contentModified = -32_801
const serverCancelled = -32_802

/** A server that was asked while it still looked at a change: the same question may be answered a moment later. */
export class ServerBusy extends ServerTrouble {}

function toAnswerTrouble(error: unknown): ServerTrouble {
  const { code, message } = isPlainObject(error) ? error : {}
  const text = `it answered with an error: ${String(message).slice(0, 300)}`
  return code === contentModified || code === serverCancelled ? new ServerBusy(text) : new ServerTrouble(text)
}

/** A server may work on a few things at a time; one that says more is not believed. */
const maxWork = 100

function noteProgress(params: unknown, work: Set<unknown>): void {
  if (!isPlainObject(params) || !isPlainObject(params['value'])) return
  const { kind } = params['value']
  if (kind === 'begin' && work.size < maxWork) work.add(params['token'])
  else if (kind === 'end') work.delete(params['token'])
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function aborted(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The question was aborted before the language server answered.',
  })
}
