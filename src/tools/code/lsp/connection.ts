import { ToolFailure } from '../../../contract/base/errors.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
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
  /** How often the server said that it ended work on something, such as its index; it still works on what it has not ended. */
  work(): { readonly isGoingOn: boolean; readonly ended: number }
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
  const work: Work = { open: new Set(), ended: 0 }
  let trouble: ServerTrouble | undefined
  let bytesSoFar = 0

  const send = (message: object): void => {
    if (trouble === undefined) options.send(toFrame(message))
  }
  const requests = createRequests(send)
  const end = (why: ServerTrouble): void => {
    trouble ??= why
    requests.end(trouble)
  }
  const onRequest = (id: unknown, method: string, params: unknown): void => {
    const result = options.answer(method, params)
    if (result !== undefined) send({ id, result })
    else
      send({ id, error: { code: methodNotFound, message: `There is no method "${method.slice(0, 80)}".` } })
  }
  const read = createFrameReader((message) => {
    if (!isPlainObject(message)) throw new Error('it wrote something that is not a message')
    const { id, method, params } = message
    if (typeof method !== 'string') requests.onAnswer(message)
    else if (id !== undefined) onRequest(id, method, params)
    else if (method === '$/progress') noteProgress(params, work)
  })
  return {
    request(method, params, bounds) {
      if (trouble !== undefined) return Promise.reject(trouble)
      bytesSoFar = 0
      return requests.send(method, params, bounds)
    },
    notify: (method, params) => send({ method, params }),
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
    work: () => ({ isGoingOn: work.open.size > 0, ended: work.ended }),
  }
}

/** Requests to the server, each until its answer, its time or its abort. */
function createRequests(send: (message: object) => void) {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  return {
    send: (method: string, params: object, { timeoutMs, signal }: RequestBounds): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        const settle = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
          waiting.delete(id)
        }
        const leave = (error: Error): void => {
          settle()
          send({ method: '$/cancelRequest', params: { id } })
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
        else send({ id, method, params })
      }),
    onAnswer(message: Readonly<Record<string, unknown>>): void {
      const asked = waiting.get(Number(message['id']))
      if (message['error'] === undefined) asked?.resolve(message['result'])
      else asked?.reject(toAnswerTrouble(message['error']))
    },
    end(trouble: ServerTrouble): void {
      for (const asked of waiting.values()) asked.reject(trouble)
    },
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

interface Work {
  readonly open: Set<unknown>
  ended: number
}

function noteProgress(params: unknown, work: Work): void {
  if (!isPlainObject(params) || !isPlainObject(params['value'])) return
  const { kind } = params['value']
  if (kind === 'begin' && work.open.size < maxWork) work.open.add(params['token'])
  else if (kind === 'end' && work.open.delete(params['token'])) work.ended++
}

/** The failure of a call that was aborted while it waited for the server. */
export function aborted(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The question was aborted before the language server answered.',
  })
}
