import type { Readable, Writable } from 'node:stream'
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { createJoinedWriter } from '../../../kit/text/create-joined-writer.ts'
import { isPlainCall } from '../../translate/plain-messages.ts'
import type { PlainCalls } from '../calls/plain-calls.ts'
import { listenMethod } from '../methods/serve-listen.ts'
import { isAnswer, isRequest } from '../web/message-kinds.ts'
import { messageText } from '../web/message-text.ts'
import { readCancellation } from '../web/read-cancellation.ts'
import { createLineReader } from './line-reader.ts'

/** Where messages come from and go to. */
export interface StdioStreams {
  readonly input: Readable
  readonly output: Writable
  /** A line longer than this is refused. Counted in UTF-16 code units. */
  readonly maxLineLength: number
  /** How long running requests may take to end after the input did, in milliseconds. */
  readonly graceMs: number
  /** What takes calls before the SDK reads them, as soon as it is there. Default: nothing. */
  readonly plainCalls?: () => PlainCalls | undefined
}

/**
 * MCP over lines: one JSON message a line. A line that is not a message is answered with an error and the next one is read. When the input
 * ends, what runs may still be answered for a while, so that a piped file of requests gets its answers.
 */
export function createStdioTransport(streams: StdioStreams): Transport {
  const { input, output, maxLineLength, graceMs, plainCalls = () => undefined } = streams
  const running = new Set<string | number>()
  let inputEnded = false
  let closed = false
  let grace: NodeJS.Timeout | undefined

  const writeText = createJoinedWriter(
    (text) =>
      new Promise((resolve, reject) => {
        output.write(text, (error) => (error ? reject(error) : resolve()))
      }),
  )
  const write = (message: object): Promise<void> =>
    closed ? Promise.reject(new Error('The connection is closed.')) : writeText(`${messageText(message)}\n`)
  const refuse = (code: number, message: string): void => {
    write({ jsonrpc: '2.0', id: null, error: { code, message } }).catch(report)
    transport.onerror?.(new Error(message))
  }
  const report = (error: Error): void => transport.onerror?.(error)
  const closeWhenIdle = (): void => {
    if (inputEnded && running.size === 0) void transport.close()
  }

  const receive = (text: string): void => {
    if (text.trim() === '') return
    const message = parseMessage(text)
    if ('refusal' in message) return refuse(message.code, message.refusal)
    // A request that only listens waits for nothing that ends by itself.
    if (isRequest(message) && message.method !== listenMethod) running.add(message.id)
    if (plainCalls()?.take(message, transport) !== true) transport.onmessage?.(message)
    const cancelled = readCancellation(message)
    if (cancelled !== undefined) running.delete(cancelled.id)
  }
  const lines = createLineReader({
    maxLength: maxLineLength,
    onLine: receive,
    onLong: () =>
      refuse(
        -32600,
        `Invalid request: the line is longer than ${maxLineLength} characters. Send less at a time.`,
      ),
  })
  const onEnd = (): void => {
    if (inputEnded) return
    inputEnded = true
    lines.end()
    closeWhenIdle()
    if (!closed) grace = setTimeout(() => void transport.close(), graceMs)
  }
  const onOutputError = (error: Error): void => {
    report(error)
    void transport.close()
  }

  const transport: Transport = {
    async start() {
      input.on('data', lines.push)
      input.on('end', onEnd)
      input.on('close', onEnd)
      input.on('error', report)
      output.on('error', onOutputError)
    },
    async send(message) {
      await write(message)
      if (isAnswer(message) && message.id !== undefined) running.delete(message.id)
      closeWhenIdle()
    },
    async close() {
      if (closed) return
      closed = true
      clearTimeout(grace)
      input.off('data', lines.push)
      input.pause()
      transport.onclose?.()
    },
  }
  return transport
}

/** The message of a line, or why the line is refused. */
function parseMessage(text: string): JSONRPCMessage | { code: number; refusal: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const refusal = 'Parse error: the line is not valid JSON. Send one JSON-RPC message a line.'
    return { code: -32700, refusal }
  }
  if (isPlainCall(value)) return value
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return { code: -32600, refusal: 'Invalid request: the line is JSON but no JSON-RPC 2.0 message.' }
  }
}
