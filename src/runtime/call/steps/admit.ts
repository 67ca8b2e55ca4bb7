import type { CallError } from '../../../contract/base/errors.ts'
import type { HeldBudget } from '../../state/budget-state.ts'
import { reserveBudgets, toReserved } from '../../limits/budgets.ts'
import { toBegin } from '../../record/begin-record.ts'
import { takesRecords } from '../../../kit/takes-records.ts'
import type { Road } from '../../state/ground.ts'
import { giveKept } from '../../record/give-kept.ts'
import { takeKey } from '../../record/keyed-calls.ts'
import type { Slot } from '../../state/slots.ts'
import { takeSlot } from '../../limits/take-slot.ts'
import {
  advance,
  stop,
  type again,
  type Admitted,
  type Approved,
  type Replayed,
  type Stopped,
} from '../../state/passage.ts'
import { toCallError } from '../../state/to-call-error.ts'
import { stale } from './approve.ts'
import { countCall, findExceeded } from './authorise.ts'

/** A call that may run, or one that gets an earlier result or none; or another call has its key by now. */
type MayRun = Admitted | Replayed | Stopped | typeof again

/**
 * Step 7: the tool may run once more at the same time, the approval still holds, the counts and budgets have room and are taken, the
 * idempotency key is this call's, and the begin record is written: durable before anything that changes the outside. A call that may
 * have the result of an earlier one gets it here, and takes nothing.
 */
export function admit(approved: Approved, road: Road): MayRun | Promise<MayRun> {
  road.ground.observer?.enters(approved.call, 'admit')
  if (approved.kept !== undefined) return giveKept(approved.kept, approved, road)
  const slot = takeSlot(approved, road)
  return slot instanceof Promise
    ? slot.then((taken) => takeRest(approved, taken, road))
    : takeRest(approved, slot, road)
}

function takeRest(approved: Approved, slot: Slot | CallError, road: Road): MayRun | Promise<MayRun> {
  if ('code' in slot) return stop('admit', approved, slot)
  const { definition } = approved.registered
  const taken = isExpired(approved, road) ? stale(definition.name) : take(approved, slot, road)
  if ('code' in taken) {
    slot.free()
    return stop('admit', approved, taken)
  }
  if (approved.key !== undefined) return beginKeyed(approved, taken, road)
  // A store that takes no records says so to who waits for it, before the tool runs.
  const mayRunFirst = changesNothing(definition.sideEffect) && takesRecords(road.ground.store)
  return mayRunFirst ? beginLazily(approved, taken, road) : begin(approved, taken, road)
}

function isExpired({ approval }: Approved, { ground }: Road): boolean {
  return approval !== undefined && ground.tick() > approval.expiresAt
}

function beginKeyed(approved: Approved, taken: Taken, road: Road): MayRun | Promise<MayRun> {
  const held = takeKey(approved, road)
  if (held === undefined) return begin(approved, taken, road)
  giveBack(approved, taken, road)
  return held
}

/** A call that changes nothing outside need not wait for the disk: its begin is written with its end. */
function beginLazily(approved: Approved, taken: Taken, road: Road): Admitted {
  const startedAt = road.ground.now()
  countCall(approved, road)
  try {
    const { record, body } = toTakenBegin(approved, { startedAt, taken }, road)
    road.ground.evidence.beginLazily(record, body)
  } catch (error) {
    giveBack(approved, taken, road)
    throw error
  }
  return started(approved, { startedAt, taken }, road)
}

async function begin(approved: Approved, taken: Taken, road: Road): Promise<Admitted | Stopped> {
  const startedAt = road.ground.now()
  countCall(approved, road)
  try {
    const { record, body } = toTakenBegin(approved, { startedAt, taken }, road)
    await road.ground.evidence.begin(record, body)
  } catch (error) {
    giveBack(approved, taken, road)
    return stop('admit', approved, toCallError(error, approved.registered.definition.name))
  }
  return started(approved, { startedAt, taken }, road)
}

/** The begin, with what the call took. */
function toTakenBegin(
  approved: Approved,
  { startedAt, taken }: { startedAt: number; taken: Taken },
  road: Road,
): ReturnType<typeof toBegin> {
  const begin = toBegin(approved, startedAt, road)
  if (taken.budget !== undefined) begin.record.reserved = toReserved(taken.budget)
  return begin
}

function started(
  approved: Approved,
  { startedAt, taken }: { startedAt: number; taken: Taken },
  { ground, session }: Road,
): Admitted {
  approved.place?.starts(approved.plan.operations)
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
  return advance(approved, 'admit', {
    startedAt,
    startTick: ground.tick(),
    waitedMs: 0,
    slot: taken.slot,
    budget: taken.budget,
    allowance: taken.budget?.allowance ?? approved.profile,
  })
}

/** What a call holds from here on. */
interface Taken {
  readonly slot: Slot
  readonly budget: HeldBudget | undefined
}

/** Takes the call's place in the counts of its session and its units from its budgets, where both have room. */
function take(approved: Approved, slot: Slot, road: Road): Taken | CallError {
  const over = findExceeded(approved, road)
  if (over !== undefined) return over
  const { ground, session } = road
  if (ground.budgets === undefined) return { slot, budget: undefined }
  const { principal } = session
  const { definition } = approved.registered
  const budgets = ground.budgets.budgetsFor(principal, definition)
  if (budgets.length === 0) return { slot, budget: undefined }
  const { profile, bytesIn } = approved
  const call = { id: approved.call.id, principal, definition, profile, bytesIn, at: ground.now() }
  try {
    const held = reserveBudgets(budgets, call, ground.store)
    return 'code' in held ? held : { slot, budget: held }
  } catch (error) {
    return toCallError(error, definition.name)
  }
}

function giveBack({ call }: Approved, { slot, budget }: Taken, { ground }: Road): void {
  slot.free()
  if (budget !== undefined) ground.store.refund(call.id)
}

function changesNothing(sideEffect: string): boolean {
  return sideEffect === 'none' || sideEffect === 'read'
}
