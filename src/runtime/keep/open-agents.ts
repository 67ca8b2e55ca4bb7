import type { ChildAgents } from '../../contract/base/child-agents.ts'
import type { Teams } from '../../contract/base/teams.ts'
import { redactorOf } from '../record/treatments.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The agents that a call may start. */
export function openAgents(
  { call, parks }: Admitted,
  { tenant, session }: CallScope,
  watch: RunWatch,
): ChildAgents {
  return tenant.agentHost().open({
    session: session.opened(),
    toolCallId: call.toolCallId,
    signal: watch.signal,
    waits: !parks,
    closing() {
      const closing = new AbortController()
      if (session.endings.closed) closing.abort()
      session.endings.listeners.add((id) => {
        if (id === undefined) closing.abort()
      })
      return closing.signal
    },
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
