import type { Call } from '../../contract/base/call.ts'
import type { NoteRecord } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Changes, KeyResolution } from '../../contract/store.ts'
import { settleUnspent, spentByBudget, toSettlement } from '../limits/budgets.ts'
import type { CallScope } from '../state/scope.ts'
import { isHalted, stateOf, type Ended, type Halted } from '../state/call-state.ts'

/** What the store changes with the end of a call: its budgets are settled, and its key is free again when nothing ran. */
export function toChanges(
  ended: Ended,
  about: { body: string; wallMs: number; outlived?: boolean },
): Changes | undefined {
  if ('replayed' in ended || (isHalted(ended) && !ended.begun)) return undefined
  const state = stateOf(ended)
  const { budget, registered, call, key } = state
  const resolve =
    isHalted(ended) && ended.idle === true && key !== undefined ? [notHappened(call)] : undefined
  if (budget === undefined || registered === undefined) return resolve && { resolve }
  if (isHalted(ended) && ended.idle === true) {
    const settle = [settleUnspent(budget, call.id)]
    return resolve === undefined ? { settle } : { settle, resolve }
  }
  const spending = {
    bytesIn: state.bytesIn ?? 0,
    bytesOut: about.body.length,
    wallMs: about.wallMs,
    outlived: about.outlived ?? false,
  }
  return { settle: [toSettlement(budget, { id: call.id, definition: registered.definition }, spending)] }
}

function notHappened({ id, principal }: Call): KeyResolution {
  return { tenant: principal.tenant, call: id, outcome: 'not_happened', result: '' }
}

/** A tool that outlived its answer holds its budgets until it has ended, and pays for all of its time. Evidence says that it has ended. */
export async function endLate(
  ended: Ended,
  { tool }: ToolResult,
  { tenant, session }: CallScope,
): Promise<void> {
  const state = stateOf(ended)
  const call = state.call.id
  const durationMs = durationOf(state, tenant.tick())
  const changes = toChanges(ended, { body: '', wallMs: durationMs, outlived: true })
  const [settlement] = changes?.settle ?? []
  const spent = settlement && state.budget && spentByBudget(state.budget, settlement)
  const note: NoteRecord = {
    kind: 'note',
    event: 'tool_ended',
    tenant: session.principal.tenant,
    session: session.id,
    call,
    at: tenant.now(),
    message: 'its tool has ended, after the call was answered',
    tool,
    data: { durationMs, ...(spent !== undefined && { spent }) },
  }
  try {
    await tenant.evidence.endLate(note, changes)
  } catch (cause) {
    tenant.logError({ call, tool, cause })
  }
}

/**
 * How long a call took until this tick: its run, or, if it did not run, the time since it was taken up. What people took to answer
 * is not counted, whatever they said.
 */
export function durationOf({ tick, startTick, waitedMs }: Halted['state'], now: number): number {
  return Math.max(0, Math.round(now - (startTick ?? tick) - waitedMs))
}
