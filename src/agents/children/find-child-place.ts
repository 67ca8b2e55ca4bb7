import { hash } from 'node:crypto'
import type { StartingCall } from '../../contract/agent-host.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun } from '../loop/run-book.ts'
import type { ChildPorts } from './child-ports.ts'

/**
 * The id of the agent of a call: that of the one that it started before, if that one was cut off or waits; else a new one. Providers count ids from zero, so
 * an agent that has ended says nothing about a new call.
 */
export function placeOf(
  { session, toolCallId }: StartingCall,
  ports: ChildPorts,
): { id: string; before: KeptRun | undefined } {
  const { book, store } = ports
  const { tenant } = session.principal
  const first = `run_${hash('sha256', JSON.stringify([tenant, session.id, toolCallId]), 'hex').slice(0, 24)}`
  const before = book.load(tenant, first)
  if (before === undefined) return { id: first, before }
  const isCutOff = before.state === 'running' && !store.lives(before.writer)
  const goesOn = isCutOff || before.endReason === 'approval_pending'
  return goesOn ? { id: first, before } : { id: newId('run', ports.now()), before: undefined }
}

/** Refuses one too many. Returns what counts it. */
export function countChild(
  session: Session,
  started: WeakMap<Session, number>,
  ports: ChildPorts,
): () => void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id)
  if (before >= ports.childrenPerSession)
    throw new ToolFailure({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'agents',
      message: `This session has started ${before} agents, which is all that it may. Do the rest yourself.`,
      data: { limit: ports.childrenPerSession },
    })
  return () => void started.set(session, before + 1)
}
