import type { ObservedCall } from '../../contract/observed.ts'
import { beginObserved, refuse } from '../call/observe.ts'
import type { Called } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { closedStop, toDefect } from './session-calls.ts'

/** Decides about a call that an agent runs itself, and records it as far as its begin. Never rejects: a defect in the pipeline is a denial. */
export async function observeCall(
  called: Called,
  scope: CallScope,
  { asks, isRuntimeClosed }: { asks: boolean; isRuntimeClosed: () => boolean },
): Promise<ObservedCall> {
  if (scope.session.endings.closed) return refuse(closedStop(called, isRuntimeClosed()), scope)
  try {
    return await beginObserved(called, scope, { asks })
  } catch (cause) {
    return refuse(toDefect(called, cause, scope), scope)
  }
}
