import type { Transport } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** Looks at each message of a server; says why the connection has to end, where it has to. */
export type Flow = (message: unknown) => string | undefined

/** More unasked messages are a flood: in one second, of one connection. */
const maxUnasked = 2_000

/** Bounds what a server may say without having been asked. */
export function createFlow(now: () => number = () => performance.now()): Flow {
  let second = 0
  let count = 0
  return (message) => {
    if (!isPlainObject(message) || typeof message['method'] !== 'string') return undefined
    const current = Math.floor(now() / 1_000)
    if (current !== second) {
      second = current
      count = 0
    }
    count++
    return count > maxUnasked ? `It sent more than ${maxUnasked} unasked messages in a second.` : undefined
  }
}

/** Ends a transport that is open when its server says too much. `onFault` is told why, once. */
export function boundFlow(transport: Transport, flow: Flow, onFault: (error: Error) => void): void {
  const receive = transport.onmessage
  let over = false
  transport.onmessage = (message, extra) => {
    const fault = over ? undefined : flow(message)
    if (fault === undefined) return over ? undefined : receive?.(message, extra)
    over = true
    onFault(new Error(fault))
    void transport.close()
  }
}
