import type * as SdkModule from '@modelcontextprotocol/client'
import type { JSONRPCMessage, RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
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
  sdk: typeof SdkModule,
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
  /** An error, progress, or a result that has more than most: the SDK reads what it is. */
  const readInFull = (message: Record<string, unknown>): boolean => {
    if (message['method'] === 'notifications/progress') {
      const read = sdk.specTypeSchemas.ProgressNotification['~standard'].validate(message)
      if ('then' in read || read.issues !== undefined) return false
      const { progressToken, ...progress } = read.value.params
      const onprogress = waiting.get(Number(progressToken))?.onprogress
      onprogress?.(progress)
      return onprogress !== undefined
    }
    const found = waiting.get(Number(message['id']))
    if (found === undefined) return false
    if (sdk.isJSONRPCResultResponse(message)) {
      const { resultType: _, ...result } = readJsonObject(message.result)
      found.resolve(result)
      return true
    }
    if (!sdk.isJSONRPCErrorResponse(message)) return false
    const { code, message: why, data } = message.error
    found.reject(ProtocolError.fromError(code, why, data))
    return true
  }
  return {
    request,
    take(message) {
      if (isPlainAnswer(message)) {
        const found = waiting.get(message.id)
        found?.resolve(message.result)
        return found !== undefined
      }
      return isPlainObject(message) && readInFull(message)
    },
    close() {
      const gone = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed')
      for (const each of waiting.values()) each.reject(gone)
    },
  }
}

function withToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = params['_meta']
  return { ...params, _meta: { ...(isPlainObject(meta) && meta), progressToken } }
}
