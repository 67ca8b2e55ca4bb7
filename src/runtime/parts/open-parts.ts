import { ToolFailure } from '../../contract/base/errors.ts'
import type { PartCalls, PartWish } from '../../contract/tool/part-calls.ts'
import { reserveBudgets } from '../limits/budgets.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import { profileOf } from '../permission/profile-of.ts'
import type { Admitted } from '../state/call-state.ts'
import { partOf } from '../state/part-of.ts'
import type { CallScope } from '../state/scope.ts'
import { lookAtParts, toPartRequest } from '../planning/look-at-parts.ts'

/** The longest that a timer can wait: each part has its own time limit, and that of its call stands still meanwhile. */
const unlimitedMs = 2 ** 31 - 1

/** The parts of a call that runs. */
export function openParts(admitted: Admitted, scope: CallScope, watch: RunWatch): PartCalls {
  const { session, tenant } = scope
  const { call, parks } = admitted
  const held = new Set<string>()
  const release = (): void => {
    for (const name of held) tenant.store.refund(name)
    held.clear()
  }
  watch.over.addEventListener('abort', release, { once: true })
  return {
    ...lookAtParts(admitted, scope),
    reserve(parts) {
      try {
        for (const part of parts) if (holdFor(part, admitted, scope)) held.add(heldName(admitted, part))
      } catch (error) {
        release()
        throw error
      }
    },
    async call({ seen, ...wish }) {
      const request = toPartRequest(admitted, wish, scope)
      const earlier =
        parks === false ? undefined : session.parts.earlier({ id: String(request.id), call: call.id })
      if (earlier !== undefined) return earlier
      const name = heldName(admitted, wish)
      const isHeld = held.delete(name)
      const letGo = watch.hold(unlimitedMs, true)
      try {
        return await session.parts.start({
          ...request,
          signal: watch.signal,
          follow: true,
          [partOf]: {
            call: call.id,
            part: wish.part,
            inProgram: admitted.partOf?.inProgram === true,
            seen: wasSeen(admitted) ? seen : undefined,
            held: isHeld ? name : undefined,
          },
          parks,
        })
      } finally {
        letGo()
        // One that did not come so far did not take it.
        if (isHeld) tenant.store.refund(name)
      }
    },
  }
}

/** Whether a person said yes to the preview of a composition: to this call, to the one that it is a part of, or to the one that it was before it waited. */
function wasSeen({ registered, approval, decision, consent }: Admitted): boolean {
  const isAnswered = approval !== undefined || (decision.effect === 'ask' && consent !== undefined)
  return isAnswered && registered.tool.composedOf !== undefined
}

function heldName({ call }: Admitted, { part }: Pick<PartWish, 'part'>): string {
  return `${call.id}.${part}`
}

/** Holds what a part may spend at most, but for the bytes of its input, which are known when it is called. False if no budget counts it. */
function holdFor(
  { part, tool }: Pick<PartWish, 'part' | 'tool'>,
  admitted: Admitted,
  scope: CallScope,
): boolean {
  const { tenant, session } = scope
  const definition = session.find(tool, 'canonical')?.definition
  if (tenant.budgets === undefined || definition === undefined) return false
  const { principal } = session
  const budgets = tenant.budgets.budgetsFor(principal, definition)
  if (budgets.length === 0) return false
  const profile = profileOf(definition, scope)
  const id = heldName(admitted, { part })
  const answer = reserveBudgets(
    budgets,
    { id, principal, definition, profile, bytesIn: 0, at: tenant.now() },
    tenant.store,
  )
  if (!('code' in answer)) return true
  throw new ToolFailure({
    ...answer,
    message: `The part "${part}" cannot run, so none did. ${answer.message}`,
  })
}
