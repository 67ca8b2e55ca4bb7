import type { ChildAgents } from '../../contract/base/child-agents.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The agents that a call may start. */
export function openAgents(
  { call, parks, registered }: Admitted,
  { tenant, session }: CallScope,
  watch: RunWatch,
): ChildAgents {
  return tenant.agentHost().open({
    session: session.opened(),
    callId: call.id,
    toolCallId: call.toolCallId,
    tool: registered.definition.name,
    signal: watch.signal,
    waits: !parks,
  })
}
