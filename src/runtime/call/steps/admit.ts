import type { CallError } from '../../../contract/base/errors.ts'
import type { BeginEntry } from '../../../contract/evidence-log.ts'
import type { CallBudget, HeldBudget } from '../../state/budget-state.ts'
import { reserveBudgets, toReserved } from '../../limits/budgets.ts'
import { toBegin } from '../../record/begin-record.ts'
import { isFactChanged } from '../../../kit/result/is-fact-changed.ts'
import { takesRecords } from '../../../kit/takes-records.ts'
import type { CallScope } from '../../state/scope.ts'
import { giveKept } from '../../record/give-kept.ts'
import { takeKey } from '../../record/keyed-calls.ts'
import type { Slot } from '../../state/slots.ts'
import { findPause } from '../../permission/find-pause.ts'
import { takeSlot } from '../../limits/take-slot.ts'
import { advance } from '../../state/advance.ts'
import {
  halt,
  type again,
  type Admitted,
  type Approved,
  type Replayed,
  type Halted,
} from '../../state/call-state.ts'
import { toCallError } from '../../state/to-call-error.ts'
import { keepYes, stale, usedBefore } from './approve.ts'
import { countCall, findExceeded } from './authorise.ts'
import { excludedTool } from './find.ts'

/** A call that may run, or one that gets an earlier result or none; or another call has its key by now. */
type MayRun = Admitted | Replayed | Halted | typeof again

/**
 * Step 7: the tool may run once more at the same time, the approval still holds, the counts and budgets have room and are taken, the
 * idempotency key is this call's, and the begin record is written: durable before anything that changes the outside. A call that may
 * have the result of an earlier one gets it here, and takes nothing.
 */
export function admit(approved: Approved, scope: CallScope): MayRun | Promise<MayRun> {
  scope.tenant.observer?.enters(approved.call, 'admit')
  if (approved.kept !== undefined) {
    const paused = findPause(approved.registered, approved.partOf, scope)
    return paused === undefined ? giveKept(approved.kept, approved, scope) : halt('admit', approved, paused)
  }
  const slot = takeSlot(approved, scope)
  return slot instanceof Promise
    ? slot.then((taken) => takeRest(approved, taken, scope))
    : takeRest(approved, slot, scope)
}

function takeRest(approved: Approved, slot: Slot | CallError, scope: CallScope): MayRun | Promise<MayRun> {
  if ('code' in slot) return halt('admit', approved, slot)
  const { definition } = approved.registered
  const taken = findLateNo(approved, scope) ?? take(approved, slot, scope)
  if ('code' in taken) {
    slot.free()
    return halt('admit', approved, taken)
  }
  if (approved.key !== undefined) return beginKeyed(approved, taken, scope)
  // A store that takes no records says so to who waits for it, before the tool runs.
  const mayRunFirst =
    changesNothing(definition.sideEffect) && approved.use === undefined && takesRecords(scope.tenant.store)
  return mayRunFirst ? beginLazily(approved, taken, scope) : begin(approved, taken, scope)
}

/** What changed since the call was decided about: it was paused, its approval has expired, or the session entered plan mode. */
function findLateNo(approved: Approved, scope: CallScope): CallError | undefined {
  const { approval, registered } = approved
  const { tenant, session } = scope
  const paused = findPause(approved.registered, approved.partOf, scope)
  if (paused !== undefined) return paused
  const { name, permission } = registered.definition
  if (approval !== undefined && tenant.tick() > approval.expiresAt) return stale(name)
  if (permission !== 'write' || session.mode !== 'plan') return undefined
  return excludedTool(registered, { exclusion: 'mode_denied', status: session.status(registered) }, scope)
}

function beginKeyed(approved: Approved, taken: Taken, scope: CallScope): MayRun | Promise<MayRun> {
  const held = takeKey(approved, scope)
  if (held === undefined) return begin(approved, taken, scope)
  giveBack(approved, taken, scope)
  return held
}

/** A call that changes nothing outside need not wait for the disk: its begin is written with its end. */
function beginLazily(approved: Approved, taken: Taken, scope: CallScope): Admitted {
  const startedAt = scope.tenant.now()
  countCall(approved, scope)
  try {
    scope.tenant.evidence.beginLazily(toTakenBegin(approved, { startedAt, taken }, scope))
  } catch (error) {
    giveBack(approved, taken, scope)
    throw error
  }
  return started(approved, { startedAt, taken }, scope)
}

async function begin(approved: Approved, taken: Taken, scope: CallScope): Promise<Admitted | Halted> {
  const startedAt = scope.tenant.now()
  countCall(approved, scope)
  try {
    const begun = toTakenBegin(approved, { startedAt, taken }, scope)
    await scope.tenant.evidence.begin(begun, approved.use && { facts: [approved.use] })
  } catch (error) {
    giveBack(approved, taken, scope)
    const { name } = approved.registered.definition
    return halt('admit', approved, isFactChanged(error) ? usedBefore(name) : toCallError(error, name))
  }
  return started(approved, { startedAt, taken }, scope)
}

/** The begin, with what the call took. */
function toTakenBegin(
  approved: Approved,
  { startedAt, taken }: { startedAt: number; taken: Taken },
  scope: CallScope,
): BeginEntry {
  const reserved = taken.budget && { reserved: toReserved(taken.budget) }
  return toBegin(approved, { startedAt, ...reserved }, scope)
}

function started(
  approved: Approved,
  { startedAt, taken }: { startedAt: number; taken: Taken },
  { tenant, session }: CallScope,
): Admitted {
  approved.place?.starts(approved.plan.operations)
  keepYes(approved, { tenant, session })
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
  return advance.admit(approved, {
    startedAt,
    startTick: tenant.tick(),
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

/** Takes the call's place in the counts of its session and its units from its budgets, if both have room. */
function take(approved: Approved, slot: Slot, scope: CallScope): Taken | CallError {
  const over = findExceeded(approved, scope)
  if (over !== undefined) return over
  const { tenant, session } = scope
  if (tenant.budgets === undefined) return { slot, budget: undefined }
  const { principal } = session
  const { definition } = approved.registered
  const budgets = ownBudgets(approved, tenant.budgets.budgetsFor(principal, definition))
  if (budgets.length === 0) return { slot, budget: undefined }
  // What was held for it until now is what it takes.
  if (approved.partOf?.held !== undefined) tenant.store.refund(approved.partOf.held)
  const { profile, bytesIn } = approved
  const call = { id: approved.call.id, principal, definition, profile, bytesIn, at: tenant.now() }
  try {
    const held = reserveBudgets(budgets, call, tenant.store)
    return 'code' in held ? held : { slot, budget: held }
  } catch (error) {
    return toCallError(error, definition.name)
  }
}

/** A composition counts as a call; the time and the bytes that it takes are those of its parts. A piece of a job was counted as a call with its start. */
function ownBudgets({ registered, partOf }: Approved, budgets: readonly CallBudget[]): readonly CallBudget[] {
  const isOfCalls = ({ unit }: CallBudget): boolean => unit === 'calls' || unit === 'cost' || unit === 'money'
  if (partOf?.segment !== undefined) return budgets.filter((budget) => !isOfCalls(budget))
  return registered.tool.composedOf === undefined ? budgets : budgets.filter(isOfCalls)
}

function giveBack({ call }: Approved, { slot, budget }: Taken, { tenant }: CallScope): void {
  slot.free()
  if (budget !== undefined) tenant.store.refund(call.id)
}

function changesNothing(sideEffect: string): boolean {
  return sideEffect === 'none' || sideEffect === 'read'
}
