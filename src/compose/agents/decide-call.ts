import type { Runtime, Session } from '../../contract/runtime.ts'
import type { ObservedCall, ObservedCalls, ObservedEnd } from '../../contract/observed.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import type { MappedCall, NativeAgent, ToolMessage, Verdict } from './native-agent.ts'
import type { DecidedCall } from './map-call.ts'

/** What a call of an agent is decided with. */
export interface Deciding {
  readonly runtime: Runtime
  /** Observes the agent. */
  readonly session: Session
  readonly decided: DecidedCall
  /** Whether questions are kept in the store, in place of the person of the agent. Default false. */
  readonly keeps?: boolean
}

/** Decides about a call that an agent is about to make, and records its begin. */
export async function decideCall(
  agent: NativeAgent,
  message: ToolMessage,
  { runtime, session, decided, keeps = false }: Deciding,
): Promise<Verdict> {
  const observed = observedOf(session)
  const found = decided.calls.every(({ tool, own }) => own !== undefined || isThere(runtime, session, tool))
  const calls = found ? decided.calls : [decided.otherwise]
  const answers: ObservedCall[] = []
  for (const [index, { tool, input, own }] of calls.entries()) {
    const answer = await observed.begin(tool, input, {
      id: idOf(message, index, runtime),
      name: message.tool,
      presentation: 'compatible',
      // A yes is used up by the call that it lets through, so that of several calls only the last one can wait for one.
      ...(keeps ? { keeps: index === calls.length - 1 } : { asks: agent.asks }),
      ...(own !== undefined && { own }),
    })
    answers.push(answer)
    if (answer.effect === 'deny') {
      // Those before it were let through, and do not run without it.
      for (let before = 0; before < index; before++)
        await observed.end(idOf(message, before, runtime), { outcome: 'aborted' })
      const waiting = answer.error?.code === 'POLICY.APPROVAL_PENDING'
      return { effect: 'deny', reason: answer.reason, waiting }
    }
  }
  const asked = answers.find(({ effect }) => effect === 'ask')
  if (asked !== undefined) return { effect: 'ask', reason: `${asked.tool}: ${asked.reason}` }
  const reason = answers.map(({ tool, reason: why }) => `${tool}: ${why}`).join('; ')
  return { effect: decided.harmless ? 'none' : 'allow', reason }
}

/** Records how a call of an agent ended. Returns whether one was open. */
export async function endCall(
  message: ToolMessage,
  end: ObservedEnd,
  { runtime, session }: Pick<Deciding, 'runtime' | 'session'>,
): Promise<boolean> {
  const observed = observedOf(session)
  for (let index = 0; ; index++) {
    const ended = await observed.end(idOf(message, index, runtime), end)
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
