import type * as SdkModule from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Progress, RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { isPlainAnswer } from '../../translate/plain-messages.ts'

/** A request as it goes to a server. */
export interface PlainRequest {
  readonly method: string
  readonly params: JsonObject
}

/** What of the options of a request counts here. */
export type PlainOptions = Pick<RequestOptions, 'signal' | 'onprogress'>

/** Requests over one connection to a server that shook hands. The SDK does not read their answers, which it would read several times. */
export interface PlainRequests {
  /** Resolves with the result as it came. It waits until its signal or the connection ends it. */
  request(request: PlainRequest, options: PlainOptions): Promise<JsonObject>
  /** Takes a message that belongs to one of them. False: it is for the SDK. */
  take(message: unknown): boolean
  /** The connection is gone, and with it what waits. */
  close(): void
}

interface Waiting extends PlainOptions {
  resolve(result: JsonObject): void
  reject(error: unknown): void
}

/** The SDK counts its own from zero. Some servers keep an id in 32 bits. */
const firstId = 1_000_000_000
const lastId = 2 ** 31 - 1

export function createPlainRequests(
  sdk: Pick<typeof SdkModule, 'ProtocolError' | 'SdkError' | 'SdkErrorCode'>,
  send: (message: JSONRPCMessage) => Promise<void>,
): PlainRequests {
  const { ProtocolError, SdkError, SdkErrorCode } = sdk
  const waiting = new Map<number, Waiting>()
  let last = firstId - 1
  const nextId = (): number => (last = last === lastId ? firstId : last + 1)
  const toAbortion = (reason: unknown): Error =>
    reason instanceof SdkError ? reason : new SdkError(SdkErrorCode.RequestTimeout, String(reason))
  /** A server that is gone needs not be told. */
  const cancel = (requestId: number, reason: unknown): void =>
    void send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: String(reason) },
    }).catch(() => {})

  async function request({ method, params }: PlainRequest, options: PlainOptions): Promise<JsonObject> {
    const { signal, onprogress } = options
    if (signal?.aborted === true) throw toAbortion(signal.reason)
    const id = nextId()
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const onAbort = (): void => {
      cancel(id, signal?.reason)
      reject(toAbortion(signal?.reason))
    }
    waiting.set(id, { ...options, resolve, reject })
    signal?.addEventListener('abort', onAbort, { once: true })
    const sent = onprogress === undefined ? params : withToken(params, id)
    send({ jsonrpc: '2.0', id, method, params: sent }).catch(reject)
    try {
      return await promise
    } finally {
      waiting.delete(id)
      signal?.removeEventListener('abort', onAbort)
    }
  }
  return {
    request,
    take(message) {
      if (isPlainAnswer(message)) {
        const found = waiting.get(message.id)
        found?.resolve(message.result)
        return found !== undefined
      }
      if (!isPlainObject(message)) return false
      const failed = readError(message)
      if (failed !== undefined) {
        const found = waiting.get(failed.id)
        found?.reject(ProtocolError.fromError(failed.code, failed.message, failed.data))
        return found !== undefined
      }
      const reported = readProgress(message)
      const onprogress = reported && waiting.get(reported.token)?.onprogress
      if (reported !== undefined) onprogress?.(reported.progress)
      return onprogress !== undefined
    },
    close() {
      const gone = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed')
      for (const { reject } of waiting.values()) reject(gone)
    },
  }
}

function withToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = params['_meta']
  return { ...params, _meta: { ...(isPlainObject(meta) && meta), progressToken } }
}

function readError({ jsonrpc, id, error }: Record<string, unknown>) {
  if (jsonrpc !== '2.0' || typeof id !== 'number' || !isPlainObject(error)) return undefined
  const { code, message, data } = error
  if (!Number.isSafeInteger(code) || typeof code !== 'number' || typeof message !== 'string') return undefined
  return { id, code, message, data }
}

function readProgress({ jsonrpc, method, params }: Record<string, unknown>) {
  if (jsonrpc !== '2.0' || method !== 'notifications/progress' || !isPlainObject(params)) return undefined
  const { progressToken: token, progress, total, message } = params
  if (typeof token !== 'number' || typeof progress !== 'number') return undefined
  const told: Progress = {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
  return { token, progress: told }
}
