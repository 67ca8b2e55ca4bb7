import { ToolFailure, type CallError } from '../../contract/base/errors.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { FactChange } from '../../contract/store.ts'
import type { ObservedCall } from '../../contract/observed.ts'
import { toBegin } from '../record/begin-record.ts'
import { redactorOf } from '../record/treatments.ts'
import { reserveBudgets, toReserved, toSettlement } from '../limits/budgets.ts'
import { enterToLook } from '../limits/plan-in-time.ts'
import { toAsked } from '../permission/ask-person.ts'
import { namesApprovers } from '../permission/keep-question.ts'
import { unasked } from '../permission/refusals.ts'
import { isHalted, halt, type Approved, type Called, type Halted, type Hooked } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import type { HeldBudget } from '../state/budget-state.ts'
import { toCallError } from '../state/to-call-error.ts'
import { prepare } from './pipeline.ts'
import { approve } from './steps/approve.ts'
import { countCall } from './steps/authorise.ts'
import { recallForPreflight } from './steps/recall.ts'
import { record } from './steps/record.ts'

/** Stands for the process in the begin of a call that no process of Handrail runs. */
export const observedWriter = 'observed'

/**
 * The steps of a call up to its begin, for one that an agent runs itself. What is let through, or is for the agent to ask about, has its begin
 * when this resolves; anything else has begin and end.
 */
export async function beginObserved(
  called: Called,
  scope: CallScope,
  { asks }: { asks: boolean },
): Promise<ObservedCall> {
  const planned = await prepare<never>(called, scope, { recall: recallForPreflight })
  if (isHalted(planned)) return refuse(planned, scope)
  const prepared = withoutHeld(planned)
  const { decision } = prepared
  const alias = await findAlias(prepared, scope)
  if (alias !== undefined) return refuse(halt('plan', prepared, alias), scope)
  const isAsked = decision.effect === 'ask'
  // The agent asks its own person, who is not one whom the policy names.
  const asksHere = isAsked && (called.parks !== false || namesApprovers(prepared.registered, scope))
  const answered = asksHere ? await answerOf(prepared, scope) : undefined
  if (answered !== undefined && isHalted(answered)) return refuse(answered, scope)
  if (isAsked && answered === undefined && !asks) return refuse(refuseUnasked(prepared, scope), scope)
  const failed = await writeBegin(prepared, answered?.use, scope)
  if (failed !== undefined) return refuse(halt('admit', prepared, failed), scope)
  const effect = isAsked && answered === undefined ? 'ask' : 'allow'
  const shown = redactorOf(prepared.registered, scope).json(decision)
  return { call: called.call.id, tool: toolOf(prepared), effect, reason: shown.reason, decision: shown }
}

/** What the agent runs is not held back: a person is asked before it runs, or never. */
function withoutHeld(prepared: Hooked): Hooked {
  const { held: _, ...plan } = prepared.plan
  return { ...prepared, plan }
}

/** A file that is, by a hard link, also one that must not be seen. A read of Handrail's own finds that as it opens it; an agent opens it itself. */
async function findAlias(prepared: Hooked, scope: CallScope): Promise<CallError | undefined> {
  const { operations } = prepared.plan
  const read = operations.flatMap((operation) =>
    operation.kind === 'fs.read' && operation.recursive !== true ? [operation.path] : [],
  )
  if (read.length === 0) return undefined
  const { files } = enterToLook(prepared, scope)
  for (const path of read) {
    try {
      for await (const _ of files.chunks(path)) break
    } catch (error) {
      // What else keeps it from being read, the agent will hear from the system.
      if (error instanceof ToolFailure && error.reason === 'sensitive_path')
        return toCallError(error, toolOf(prepared))
    }
  }
  return undefined
}

/** What those answered who may decide about the call; until then it is denied, and waits for them. */
async function answerOf(prepared: Hooked, scope: CallScope): Promise<Approved | Halted> {
  const answered = await approve(prepared, scope)
  return 'parked' in answered ? halt('approve', prepared, answered.error) : answered
}

/** The agent would not ask its person, so no person would be asked. */
function refuseUnasked(prepared: Hooked, scope: CallScope): Halted {
  const why = `"${toolOf(prepared)}" needs a person's yes (${prepared.decision.reason}), and this agent asks no person for a hook.`
  return halt('approve', prepared, unasked(toAsked(prepared, ''), scope, why))
}

/** Ends a call that the agent may not run. */
export async function refuse(halted: Halted, scope: CallScope): Promise<ObservedCall> {
  const { tenant } = scope
  const { call, decision, registered } = halted.state
  tenant.observer?.began(call)
  const { error = halted.halted, tool } = await record(halted, scope)
  const about: ObservedCall = { call: call.id, tool, effect: 'deny', reason: error.message, error }
  if (decision !== undefined) about.decision = redactorOf(registered, scope).json(decision)
  return about
}

/** Why the begin could not be written, or the call not be paid for. */
async function writeBegin(
  prepared: Hooked,
  use: FactChange | undefined,
  scope: CallScope,
): Promise<CallError | undefined> {
  const { tenant } = scope
  try {
    const held = reserve(prepared, scope)
    if (held !== undefined && 'code' in held) return held
    countCall(prepared, scope)
    const { record: begin, body } = toBegin(prepared, { startedAt: tenant.now() }, scope)
    const settle = held && toSettlement(held, about(prepared), spending(prepared))
    const record: BeginRecord = {
      ...begin,
      writer: observedWriter,
      ...(held !== undefined && { reserved: toReserved(held) }),
    }
    await tenant.evidence.begin(
      { record, body },
      { ...(settle !== undefined && { settle: [settle] }), ...(use !== undefined && { facts: [use] }) },
    )
    return undefined
  } catch (error) {
    return toCallError(error, toolOf(prepared))
  }
}

/** It is charged at once, as the end comes to another process: one call and its input, and no time. */
function reserve(prepared: Hooked, { tenant, session }: CallScope): HeldBudget | CallError | undefined {
  if (tenant.budgets === undefined) return undefined
  const { principal } = session
  const { id, definition } = about(prepared)
  const budgets = tenant.budgets.budgetsFor(principal, definition)
  if (budgets.length === 0) return undefined
  const { profile, bytesIn } = prepared
  return reserveBudgets(
    budgets,
    { id, principal, definition, profile, bytesIn, at: tenant.now() },
    tenant.store,
  )
}

function spending({ bytesIn }: Hooked) {
  return { bytesIn, bytesOut: 0, wallMs: 0, outlived: false }
}

function about({ call, registered }: Hooked) {
  return { id: call.id, definition: registered.definition }
}

function toolOf({ registered }: Hooked): string {
  return registered.definition.name
}

/** Whether a begin is of a call that an agent runs. */
export function isObserved({ observed, writer }: BeginRecord): boolean {
  return observed !== undefined && writer === observedWriter
}
