import type { AgentRun } from '../../contract/agent-run.ts'
import type { AgentEnd, StartingAgent } from '../../contract/agent-host.ts'
import type { Session } from '../../contract/runtime.ts'
import type { BackgroundCall, KeptRun, RunParent } from '../loop/run-book.ts'
import { endOf, keptAgents, toAgent } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { goOn } from './go-on.ts'
import { withinTime } from './start-child.ts'
import { closeWorktree } from './worktree.ts'

/**
 * Goes on with the agents that a session had in the background when it or its process ended. Returns their ids. One that cannot go on stays interrupted, and the
 * operator is told why.
 */
export async function resumeAgents(session: Session, ports: ChildPorts): Promise<string[]> {
  const resumed: string[] = []
  for (const { id, end } of keptAgents(session, ports)) {
    if (end?.how !== 'interrupted') continue
    try {
      const run = ports.book.load(session.principal.tenant, id)
      const parent = run?.parent
      if (run === undefined || parent?.background === undefined) continue
      await ports.hold(session, toResumed({ ...run, parent }, parent.background, { session, ports }))
      resumed.push(id)
    } catch (error) {
      ports.report(id, error)
    }
  }
  return resumed
}

function toResumed(
  run: KeptRun & { readonly parent: RunParent },
  background: BackgroundCall,
  about: { session: Session; ports: ChildPorts },
): StartingAgent {
  return {
    ...toAgent(run, background, about.ports.book),
    async start(signal) {
      const { model, timeoutMs } = background
      const agent = await goOn({
        ...about,
        run,
        model,
        signal: withinTime(signal, timeoutMs),
        waits: true,
      })
      return { ended: followAgent(agent, { ...about, isolated: run.parent.worktree !== undefined }) }
    },
  }
}

/** Resolves when an agent in the background has ended, and its worktree is removed or kept. */
export async function followAgent(
  agent: Pick<AgentRun, 'id' | 'result'>,
  { session, ports, isolated }: { session: Session; ports: ChildPorts; isolated: boolean },
): Promise<AgentEnd> {
  const { tenant } = session.principal
  let failure: unknown
  await agent.result.catch((error: unknown) => {
    failure = error
  })
  const run = ports.book.load(tenant, agent.id)
  if (failure !== undefined || run === undefined)
    throw failure ?? new Error(`The run "${agent.id}" is not in the store.`)
  const end = endOf(run, ports.store)
  if (end === undefined) throw new Error(`The run "${agent.id}" has ended, and the store does not say so.`)
  // One that may go on finds its worktree as it left it.
  if (!isolated || end.how === 'interrupted') return end
  await closeWorktree(agent.id, session, ports)
  return endOf(run, ports.store) ?? end
}
