import { hash } from 'node:crypto'
import type { StartingCall } from '../../contract/agent-host.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { endOf } from './background.ts'
import type { ChildPorts } from './child-ports.ts'

/** Where the agent of a call is. */
export interface ChildAt {
  readonly id: string
  /** Its run, if it goes on. */
  readonly before: KeptRun | undefined
  /** Its run, if it has ended, and the call that started it was cut off before it could tell. */
  readonly ended?: KeptRun
  /** The id that the first agent of the call has. */
  readonly first: string
}

/**
 * The agent of a call: the one that it started before, if that one was cut off, waits or was interrupted in the background, or if the call was cut off;
 * else a new one. Providers count ids from zero, so an agent that has ended says nothing about a new call, unless a run gave the call its id, and an
 * interrupted one must have the same task.
 */
export function placeOf(
  { session, toolCallId }: StartingCall,
  { task }: Pick<ChildWish, 'task'>,
  ports: ChildPorts,
): ChildAt {
  const { book, store } = ports
  const { tenant } = session.principal
  const first = `run_${hash('sha256', JSON.stringify([tenant, session.id, toolCallId]), 'hex').slice(0, 24)}`
  const before = book.load(tenant, first)
  if (before === undefined) return { id: first, before, first }
  const isCutOff = before.state === 'running' && !store.lives(before.writer)
  const isInterrupted =
    before.parent?.background !== undefined &&
    endOf(before, store)?.how === 'interrupted' &&
    book.transcript(first, tenant).some((node) => node.type === 'user' && node.text.includes(task))
  const goesOn = isCutOff || isInterrupted || before.endReason === 'approval_pending'
  if (goesOn && before.prunedAt === undefined) return { id: first, before, first }
  const run = ports.runOf(session)
  const isSameCall = run !== undefined && before.parent?.run === run.id && toolCallId.startsWith(`${run.id}.`)
  return isSameCall && before.state === 'ended'
    ? { id: first, before: undefined, ended: before, first }
    : { id: newId('run', ports.now()), before: undefined, first }
}

/** Counts an agent, or refuses one too many. Returns what takes that back, for one that did not start. */
export function countChild(
  session: Session,
  started: WeakMap<Session, number>,
  ports: ChildPorts,
): () => void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id).length
  if (before >= ports.childrenPerSession)
    throw new ToolFailure({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'agents',
      message: `This session has started ${before} agents, which is all that it may. Do the rest yourself.`,
      data: { limit: ports.childrenPerSession },
    })
  started.set(session, before + 1)
  return () => void started.set(session, (started.get(session) ?? 1) - 1)
}
