import type { CallError } from '../../contract/base/errors.ts'
import { callError } from '../../kit/result/call-error.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import type { CallScope } from '../state/scope.ts'
import type { Approved } from '../state/call-state.ts'
import { abortedEarly } from './aborted-error.ts'
import { createRunWatch } from './run-watch.ts'
import type { Slot, Slots } from '../state/slots.ts'

/**
 * Takes a slot of the call's tool, and for an agent-starting call one of its session too. If none is free, the call waits in line,
 * at most as long as it may run; that time is not part of its run.
 */
export function takeSlot(approved: Approved, scope: CallScope): Slot | CallError | Promise<Slot | CallError> {
  const { registered } = approved
  const { definition } = registered
  const slots = scope.tenant.slots.of(registered)
  const limit = definition.concurrency === 'serial' ? 1 : definition.limits.concurrency
  const startsAgent = definition.tags.includes('agent')
  if (!startsAgent && slots.take(limit)) return slots
  const ofTool: Wanted = { slots, limit, what: `calls of "${definition.name}"` }
  if (!startsAgent) return takeAll([ofTool], approved, scope)
  const { agentsPerSession } = scope.tenant.limits
  const ofSession = { slots: scope.session.agentSlots, limit: agentsPerSession, what: agentsOfSession }
  return takeAll([ofSession, ofTool], approved, scope)
}

interface Wanted {
  readonly slots: Slots
  readonly limit: number
  readonly what: string
}

const agentsOfSession = 'agent-starting calls of a session'

async function takeAll(
  wanted: readonly Wanted[],
  approved: Approved,
  scope: CallScope,
): Promise<Slot | CallError> {
  const { tenant } = scope
  const until = tenant.tick() + approved.profile.timeoutMs
  const held: Slots[] = []
  const slot: Slot = { free: () => held.forEach((each) => each.free()) }
  for (const each of wanted) {
    const error = each.slots.take(each.limit)
      ? undefined
      : await waitInLine(each, { approved, scope, timeoutMs: Math.max(1, until - tenant.tick()) })
    if (error !== undefined) {
      slot.free()
      return error
    }
    held.push(each.slots)
  }
  return slot
}

async function waitInLine(
  { slots, limit, what }: Wanted,
  about: { approved: Approved; scope: CallScope; timeoutMs: number },
): Promise<CallError | undefined> {
  const { approved, scope, timeoutMs } = about
  const { name } = approved.registered.definition
  const watch = createRunWatch(approved, scope.session.endings)
  if (watch.ended === undefined) {
    const { tenant, actor } = scope.session.principal
    const place = slots.join(limit, `${tenant} ${actor}`)
    if ((await watch.firstOf(place.taken, timeoutMs)) !== 'ended') return undefined
    place.leave()
  }
  if (watch.ended === 'timeout') {
    return callError('QUOTA.RATE_LIMITED', 'concurrency', {
      message: `At most ${limit} ${what} run at a time, and none ended within ${showDuration(approved.profile.timeoutMs)}. "${name}" did not run; call it again later.`,
      data: { limit },
    })
  }
  return abortedEarly(name, watch.ended, 'while it waited for other calls')
}
