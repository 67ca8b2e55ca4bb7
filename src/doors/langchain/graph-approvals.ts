import type { Session } from '../../contract/runtime.ts'
import { isObject } from '../../kit/json/is-object.ts'
import type { SdkDoor } from '../base/create-sdk-door.ts'
import { needApprovals, type SdkDoorOptions } from '../base/door-options.ts'
import { recordAnswer } from '../base/record-answers.ts'
import {
  readSaidAnswer,
  toSuspendedCalls,
  type AskingCall,
  type SuspendedCalls,
} from '../base/suspended-approval.ts'

/** `interrupt` of `@langchain/langgraph`. */
export type Interrupt = (value: SuspendedCalls) => unknown

/** Asks about calls by interrupting their graph. */
export interface GraphApprovals {
  /** Whether a call with this config can interrupt its graph. */
  canAsk(config: unknown): boolean
  /** Interrupts the graph; when it goes on, records what the answer says of exactly these questions. */
  ask(calls: readonly AskingCall[]): Promise<void>
}

/** Connects the interrupts of a graph with the approvals of a runtime. */
export function createGraphApprovals(
  options: SdkDoorOptions & { interrupt?: Interrupt },
  { session, door }: { session: Session; door: SdkDoor },
): GraphApprovals {
  const { interrupt } = options
  return {
    canAsk: (config) => interrupt !== undefined && hasCheckpointer(config),
    async ask(calls) {
      const answer = interrupt?.(toSuspendedCalls(calls))
      for (const { tool, call, approval } of calls) {
        const said = readSaidAnswer(answer, approval.id)
        if (said === undefined) continue
        const approvals = needApprovals('langChain', options)
        const { by, ...rest } = said
        await recordAnswer(
          { tool, call, ...rest, approvalId: approval.id },
          { session, door, approvals, by, comesBack: true },
        )
      }
    },
  }
}

/** A graph can be interrupted only if its state is kept. */
function hasCheckpointer(config: unknown): boolean {
  if (!isObject(config)) return false
  const { configurable } = config
  return isObject(configurable) && Boolean(configurable['__pregel_checkpointer'])
}
