import type { CallError } from '../../contract/errors.ts'
import type { BeginRecord } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/result.ts'
import type { KeyClaim } from '../../contract/store.ts'
import { callError } from '../../kit/call-error.ts'
import { pass, stop, type Admitted, type Approved, type Replayed, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
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
  const key = findKey(approved)
  if (key !== undefined) return admitKeyed(approved, key, road)
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

async function admitKeyed(
  approved: Approved,
  key: string,
  road: Road,
): Promise<Admitted | Replayed | Stopped> {
  return (await claimKey(approved, key, road)) ?? begin(approved, road)
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

function findKey(approved: Approved): string | undefined {
  const { keyFrom, idempotency } = approved.registered.definition
  if (approved.call.idempotencyKey !== undefined) return approved.call.idempotencyKey
  if (idempotency === 'none' || keyFrom === undefined || keyFrom === 'call') return undefined
  const value = approved.input[keyFrom.slice(1)]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** Undefined when this call now owns the key; otherwise how the call ends without running. */
async function claimKey(
  approved: Approved,
  key: string,
  road: Road,
): Promise<Replayed | Stopped | undefined> {
  const { ground, session } = road
  const { definition } = approved.registered
  const runningKey = `${session.principal.tenant} ${definition.name} ${key}`
  const use = {
    tenant: session.principal.tenant,
    tool: definition.name,
    key,
    inputDigest: approved.inputDigest,
    call: approved.call.id,
    at: ground.now(),
    windowMs: ground.limits.idempotencyWindowMs,
  }
  const deadline = ground.now() + approved.profile.timeoutMs
  for (;;) {
    let claim: KeyClaim
    try {
      claim = ground.store.claimKey(use)
    } catch (error) {
      return stop('admit', approved, toCallError(error, definition.name))
    }
    if (claim.state === 'claimed') {
      ground.running.start(runningKey, approved.call.id)
      return undefined
    }
    if (claim.state === 'ended') return { replayed: JSON.parse(claim.result) as ToolResult, state: approved }
    if (claim.state === 'conflict') {
      return stop(
        'admit',
        approved,
        callError('IDEMPOTENCY.CONFLICT', 'same_key_other_input', {
          message: `The key "${key}" was used before for "${definition.name}" with another input (call ${claim.call}). Use a new key.`,
          data: { call: claim.call },
        }),
      )
    }
    if (claim.state === 'unknown') {
      return stop(
        'admit',
        approved,
        callError('IDEMPOTENCY.OUTCOME_UNKNOWN', 'interrupted', {
          message: `The call ${claim.call} with the key "${key}" was cut off, and its effect may or may not have happened. Check by hand; it is not run again.`,
          data: { call: claim.call },
        }),
      )
    }
    const joined = await waitFor(claim.call, runningKey, { road, deadline })
    if (joined === 'late') {
      return stop(
        'admit',
        approved,
        callError('TOOL.TIMEOUT', 'still_running', {
          message: `The call ${claim.call} with the same key is still running. Ask again later with the same key.`,
          data: { call: claim.call },
        }),
      )
    }
  }
}

/** Waits for a running call with the same key: by its own promise in this process, by looking again for another one's. */
async function waitFor(
  call: string,
  runningKey: string,
  about: { road: Road; deadline: number },
): Promise<'again' | 'late'> {
  const { ground } = about.road
  const here = ground.running.find(runningKey, call)
  if (here !== undefined) {
    await here
    return 'again'
  }
  if (ground.now() > about.deadline) return 'late'
  await new Promise((resolve) => setTimeout(resolve, 50))
  return 'again'
}

/** The begin record of a call, with everything that is known by now. */
export function toBeginRecord(
  state: Stopped['state'],
  startedAt: number,
  { ground, session }: Road,
): BeginRecord {
  const { call, registered, decision, approval } = state
  const begin: BeginRecord = {
    kind: 'begin',
    event: 'tool_started',
    tenant: session.principal.tenant,
    session: session.id,
    call: call.id,
    actor: session.principal.actor,
    role: session.principal.role,
    origin: call.origin,
    tool: registered?.definition.name ?? String(call.tool).slice(0, 200),
    definition: registered === undefined ? '' : `${registered.definition.version} ${registered.digest}`,
    at: startedAt,
    input: state.inputDigest ?? '',
    policy: ground.policy.digest,
    writer: ground.evidence.writer,
  }
  if (call.toolCallId !== call.id) begin.toolCallId = call.toolCallId
  if (state.profile !== undefined) begin.profile = state.profile.digest
  if (decision !== undefined)
    begin.decision = { effect: decision.effect, layer: decision.layer, rule: decision.rule }
  if (approval !== undefined) {
    begin.approval = { decision: approval.decision, preview: approval.binding.previewDigest }
    if (approval.reason !== undefined) begin.approval.reason = ground.redactor.text(approval.reason)
  }
  if (call.idempotencyKey !== undefined) begin.idempotencyKey = call.idempotencyKey
  return begin
}
