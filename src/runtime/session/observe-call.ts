import type { ObservedCall } from '../../contract/observed.ts'
import type { Registered } from '../../contract/registry.ts'
import { beginObserved, refuse } from '../call/observe.ts'
import type { Called } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { closedStop, toDefect } from './session-calls.ts'

interface Observing {
  readonly asks: boolean
  /** What the call is of, if that is one of the agent's own. */
  readonly own: Registered | undefined
  readonly isRuntimeClosed: () => boolean
}

/** Decides about a call that an agent runs itself, and records it as far as its begin. Never rejects: a defect in the pipeline is a denial. */
export async function observeCall(
  called: Called,
  scope: CallScope,
  { asks, own, isRuntimeClosed }: Observing,
): Promise<ObservedCall> {
  if (scope.session.endings.closed) return refuse(closedStop(called, isRuntimeClosed()), scope)
  try {
    return await beginObserved(called, own === undefined ? scope : withTool(own, scope), { asks })
  } catch (cause) {
    return refuse(toDefect(called, cause, scope), scope)
  }
}

/** The scope of a call that finds this tool, whatever tools there are. */
function withTool(own: Registered, { tenant, session }: CallScope): CallScope {
  return { tenant, session: { ...session, find: () => own } }
}
