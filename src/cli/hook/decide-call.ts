import type { Runtime, Session } from '../../contract/runtime.ts'
import type { ObservedCall, ObservedCalls } from '../../contract/observed.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import type { HookAgent, HookMessage, MappedCall, ToolMessage, Verdict } from './base/agent.ts'
import type { DecidedCall } from './map-call.ts'

/** Decides about a call that an agent is about to make, and records its begin. */
export async function decideCall(
  agent: HookAgent,
  message: ToolMessage,
  { runtime, session, decided }: { runtime: Runtime; session: Session; decided: DecidedCall },
): Promise<Verdict> {
  const observed = observedOf(session)
  const found = decided.calls.every(({ tool }) => isThere(runtime, session, tool))
  const calls = found ? decided.calls : [decided.otherwise]
  const answers: ObservedCall[] = []
  for (const [index, { tool, input }] of calls.entries()) {
    const answer = await observed.begin(tool, input, {
      id: idOf(message, index, runtime),
      name: message.tool,
      presentation: 'compatible',
      asks: agent.asks,
    })
    answers.push(answer)
    if (answer.effect === 'deny') {
      // Those before it were let through, and do not run without it.
      for (let before = 0; before < index; before++)
        await observed.end(idOf(message, before, runtime), { outcome: 'aborted' })
      return { effect: 'deny', reason: answer.reason }
    }
  }
  const asked = answers.find(({ effect }) => effect === 'ask')
  if (asked !== undefined) return { effect: 'ask', reason: `${asked.tool}: ${asked.reason}` }
  const reason = answers.map(({ tool, reason: why }) => `${tool}: ${why}`).join('; ')
  return { effect: decided.harmless ? 'none' : 'allow', reason }
}

/** Records how a call of an agent ended. Returns whether one was open. */
export async function endCall(
  message: Extract<HookMessage, { kind: 'after' }>,
  { runtime, session }: { runtime: Runtime; session: Session },
): Promise<boolean> {
  const observed = observedOf(session)
  const { outcome, response } = message
  for (let index = 0; ; index++) {
    const ended = await observed.end(idOf(message, index, runtime), { outcome, response })
    if (ended === undefined) return index > 0
  }
}

/** Records that the agent tells no more of what is open. */
export function endSession(session: Session): Promise<number> {
  return observedOf(session).endAll()
}

function observedOf({ observed }: Session): ObservedCalls {
  if (observed === undefined) throw new Error('The session observes no agent.')
  return observed
}

function isThere({ registry }: Runtime, { principal }: Session, tool: MappedCall['tool']): boolean {
  const view = registry.view(principal.tenant)
  const registered = view.findCompatible(tool) ?? view.find(tool)
  return registered !== undefined && registered.tool.unavailable === undefined
}

/** The agent's own id of a call, or what names its tool and input without telling them; with a number if it comes to several. */
function idOf({ id, tool, input }: ToolMessage, index: number, { store }: Runtime): string {
  const own = id ?? `input:${store.digest(canonicalJson([tool, input]))}`
  return index === 0 ? own : `${own}#${index}`
}
