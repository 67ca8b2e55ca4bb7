import type { ChildAgents } from '../../contract/base/child-agents.ts'
import type { Teams } from '../../contract/base/teams.ts'
import { redactorOf } from '../record/treatments.ts'
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

/** The teams that a call may work with. */
export function openTeams({ call, registered }: Admitted, scope: CallScope, watch: RunWatch): Teams {
  const { tenant, session } = scope
  const redactor = redactorOf(registered, scope)
  return tenant.agentHost().openTeams({
    session: session.opened(),
    toolCallId: call.toolCallId,
    redact: (text) => redactor.text(text),
    ended: () => watch.ended !== undefined || watch.answered,
  })
}
