import type { TeamCall } from '../../contract/agent-host.ts'
import type { TeamCaller } from '../teams/create-team-book.ts'
import type { ChildPorts } from './child-ports.ts'
import { isCallOf } from './is-call-of.ts'

/** A call as teams know it. */
export function toTeamCaller(
  { session, toolCallId, redact, ended }: TeamCall,
  ports: ChildPorts,
): TeamCaller {
  const { book, store } = ports
  const { tenant, actor } = session.principal
  const run = ports.runOf(session)
  const load = (agent: string) => book.load(tenant, agent)
  return {
    tenant,
    actor,
    session: session.id,
    once: isCallOf(run, toolCallId) ? toolCallId : undefined,
    isRun: run !== undefined,
    redact,
    ended,
    childState(agent) {
      const found = load(agent)
      if (found?.parent?.session !== session.id) return undefined
      return found.state === 'ended' && found.endReason !== 'approval_pending' ? 'ended' : 'running'
    },
    // A lead whose session its program opened has runs of other ids.
    runs(agent) {
      const found = load(agent)
      return found === undefined || (found.state === 'running' && store.lives(found.writer))
    },
  }
}
