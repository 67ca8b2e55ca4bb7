import type { ToolFailure } from '../../../contract/base/errors.ts'
import type { ConnectionFault } from '../base/explain-fault.ts'
import { toDownFailure } from '../base/to-call-failure.ts'
import { createBackOff } from './back-off.ts'

/** Why a server is not connected to. Without a cause, a connection was open and was lost. */
export interface CausedFault extends ConnectionFault {
  readonly cause: unknown
}

/** Why a server cannot be reached, and when the next try is due. */
export interface ConnectionFaults {
  readonly current: CausedFault | undefined
  /** Notes a fault and plans the next try. Returns what a call is refused with until then. */
  note(fault: CausedFault): ToolFailure
  /** The server is reached again. */
  clear(): void
  /** What a call is refused with; undefined if it may set out. */
  refusal(isOpening: boolean): ToolFailure | undefined
}

export interface ConnectionFaultsOptions {
  readonly server: string
  readonly retry: () => void
  /** Ends the tries. */
  readonly signal: AbortSignal
}

export function createConnectionFaults({ server, retry, signal }: ConnectionFaultsOptions): ConnectionFaults {
  const backOff = createBackOff()
  let current: CausedFault | undefined
  let timer: NodeJS.Timeout | undefined
  const toFailure = ({ message, cause }: CausedFault): ToolFailure =>
    toDownFailure(server, new Error(message, { cause }), backOff.waitMs())
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return {
    get current() {
      return current
    },
    note(fault) {
      current = fault
      backOff.failed()
      clearTimeout(timer)
      if (!signal.aborted) timer = setTimeout(retry, backOff.waitMs()).unref()
      return toFailure(fault)
    },
    clear() {
      current = undefined
      backOff.succeeded()
    },
    refusal(isOpening) {
      if (current === undefined) return undefined
      // A server that was only lost is worth waiting for while it is connected to anew.
      const isBack = current.cause === undefined && (isOpening || backOff.waitMs() === 0)
      return isBack ? undefined : toFailure(current)
    },
  }
}
