import type { ServerResponse } from 'node:http'
import { messageParts } from './message-text.ts'
import { sendJson } from './send-json.ts'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { isAnswer } from './message-kinds.ts'

type Headers = { readonly [name: string]: string }

/** One posted request and what goes back on its response. */
export interface Exchange {
  /** True from the answer on, or when the client is gone. */
  readonly done: boolean
  /** Sends what belongs to the request; its answer ends the exchange. False if the client does not read any more. */
  send(message: JSONRPCMessage): boolean
  /** Ends without an answer, as a cancelled request does. */
  abandon(): void
}

export interface ExchangeOptions {
  /** Added to the response. */
  readonly headers?: Headers
  /** HTTP status of an answer; asked only if nothing was sent before it. Default 200. */
  readonly statusOf?: (message: JSONRPCMessage) => number
  /** Called once: after the answer, or when the client is gone before it. */
  readonly onEnd?: (ending: 'answered' | 'gone') => void
}

/** A response that stays silent for this long becomes a stream, which clients and proxies do not time out. */
const quietMs = 10_000

/** Answers with plain JSON, or, where anything is sent before the answer, with a stream of events. */
export function openExchange(response: ServerResponse, options: ExchangeOptions = {}): Exchange {
  const { headers, statusOf = () => 200, onEnd } = options
  let done = false
  const finish = (ending: 'answered' | 'gone'): void => {
    if (done) return
    done = true
    clearInterval(heartbeat)
    onEnd?.(ending)
  }
  const heartbeat = setInterval(() => {
    openEventStream(response, headers)
    response.write(': still here\n\n')
  }, quietMs)
  heartbeat.unref()
  response.on('close', () => finish('gone'))

  return {
    get done() {
      return done
    },
    send(message) {
      if (done) return false
      const answers = isAnswer(message)
      if (answers && !response.headersSent)
        sendJson(response, message, { status: statusOf(message), headers })
      else {
        openEventStream(response, headers)
        if (!response.writableNeedDrain || !isPassing(message)) writeEvent(response, message)
        if (answers) response.end()
      }
      if (answers) finish('answered')
      return true
    },
    abandon() {
      if (done) return
      finish('gone')
      openEventStream(response, headers)
      response.end()
    },
  }
}

/** Whether a client that does not read misses nothing by it. There may be any number of these, so they must not pile up. */
function isPassing(message: JSONRPCMessage): boolean {
  const method = 'method' in message ? message.method : undefined
  return method === 'notifications/progress' || method === 'notifications/message'
}

/** Starts a stream of events, unless it runs. */
export function openEventStream(response: ServerResponse, headers?: Headers): void {
  if (response.headersSent) return
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...headers,
  })
  response.flushHeaders()
}

export function writeEvent(response: ServerResponse, message: JSONRPCMessage): void {
  for (const part of ['event: message\ndata: ', ...messageParts(message), '\n\n']) response.write(part)
}
