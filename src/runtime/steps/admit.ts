import type { CallError } from '../../contract/errors.ts'
import { callError } from '../../kit/call-error.ts'
import { toBeginRecord } from '../begin-record.ts'
import type { Road } from '../ground.ts'
import { keyOf, takeKey } from '../keyed-calls.ts'
import { pass, stop, type Admitted, type Approved, type Replayed, type Stopped } from '../passage.ts'
import { toCallError } from '../to-call-error.ts'
import { stale } from './approve.ts'
import { countCall, findExceeded } from './authorise.ts'

/**
 * Step 7: the approval still holds, the idempotency key is this call's, the count is taken, and the begin record is written:
 * durable before anything that changes the outside.
 */
export function admit(
  approved: Approved,
  road: Road,
): Admitted | Stopped | Promise<Admitted | Replayed | Stopped> {
  const { ground } = road
  const { definition } = approved.registered
  if (approved.approval !== undefined && ground.now() > approved.approval.expiresAt)
    return stop('admit', approved, stale(definition.name))
  if (keyOf(approved) !== undefined) return admitKeyed(approved, road)
  if (definition.idempotency === 'keyed') {
    return stop(
      'admit',
      approved,
      callError('SCHEMA.VALIDATION_FAILED', 'invalid_call', {
        message: `"${definition.name}" runs once for each idempotency key; give the call a key.`,
      }),
    )
  }
  return changesNothing(definition.sideEffect) ? beginLazily(approved, road) : begin(approved, road)
}

async function admitKeyed(approved: Approved, road: Road): Promise<Admitted | Replayed | Stopped> {
  return (await takeKey(approved, road)) ?? begin(approved, road)
}

/** A call that changes nothing outside need not wait for the disk: its begin is written with its end. */
function beginLazily(approved: Approved, road: Road): Admitted | Stopped {
  const over = takeCount(approved, road)
  if (over !== undefined) return stop('admit', approved, over)
  const startedAt = road.ground.now()
  road.ground.evidence.beginLazily(toBeginRecord(approved, startedAt, road), approved.inputText)
  return started(approved, startedAt, road)
}

async function begin(approved: Approved, road: Road): Promise<Admitted | Stopped> {
  const over = takeCount(approved, road)
  if (over !== undefined) return stop('admit', approved, over)
  const startedAt = road.ground.now()
  try {
    await road.ground.evidence.begin(toBeginRecord(approved, startedAt, road), approved.inputText)
  } catch (error) {
    return stop('admit', approved, toCallError(error, approved.registered.definition.name))
  }
  return started(approved, startedAt, road)
}

function started(approved: Approved, startedAt: number, { session }: Road): Admitted {
  if (session.watched()) {
    const { name } = approved.registered.definition
    session.emit({
      type: 'tool_started',
      level: 'info',
      call: approved.call.id,
      toolCallId: approved.call.toolCallId,
      tool: name,
      summary: `${name} started`,
    })
  }
  return pass<Admitted>(approved, { startedAt })
}

/** Takes the call's place in the session's counts, where there still is one. */
function takeCount(approved: Approved, road: Road): CallError | undefined {
  const over = findExceeded(approved, road)
  if (over === undefined) countCall(approved, road.session)
  return over
}

function changesNothing(sideEffect: string): boolean {
  return sideEffect === 'none' || sideEffect === 'read'
}
