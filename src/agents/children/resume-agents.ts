import type { AgentRun } from '../../contract/agent-run.ts'
import type { AgentEnd, StartingAgent } from '../../contract/agent-host.ts'
import type { Session } from '../../contract/runtime.ts'
import { openRun } from '../loop/open-run.ts'
import type { BackgroundCall, KeptRun } from '../loop/run-book.ts'
import { endOf, keptAgents, toAgent } from './background.ts'
import type { ChildPorts } from './child-ports.ts'
import { findDefinition, findModel } from './choose.ts'
import { withinTime } from './start-child.ts'
import { closeWorktree, openWorktree } from './worktree.ts'

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
      if (run?.parent?.background === undefined) continue
      await ports.hold(session, toResumed(run, run.parent.background, { session, ports }))
      resumed.push(id)
    } catch (error) {
      ports.report(id, error)
    }
  }
  return resumed
}

function toResumed(
  run: KeptRun,
  background: BackgroundCall,
  about: { session: Session; ports: ChildPorts },
): StartingAgent {
  return {
    ...toAgent(run, background, about.ports.book),
    async start(signal) {
      const agent = await goOn(run, { ...about, background, signal })
      return { ended: followAgent(agent, { ...about, isolated: run.parent?.worktree !== undefined }) }
    },
  }
}

async function goOn(
  { id, parent }: KeptRun,
  about: { session: Session; ports: ChildPorts; background: BackgroundCall; signal: AbortSignal },
): Promise<AgentRun> {
  const { session, ports, background } = about
  if (parent === undefined) throw new Error('Only the agent of a call goes on with the run of its parent.')
  const definition = await findDefinition(parent.definition, session, ports)
  const { model, price } = findModel(background.model, { definition, parentRun: ports.runOf(session), ports })
  const signal = withinTime(about.signal, background.timeoutMs)
  const worktree =
    parent.worktree === undefined
      ? undefined
      : await openWorktree({ session, toolCallId: parent.toolCallId, waits: false, signal, agent: id }, ports)
  return openRun(
    {
      resume: id,
      model,
      ...(price !== undefined && { price }),
      session: { parent: session },
      signal,
      wait: true,
    },
    ports,
    {
      id,
      parent,
      nodes: [],
      worktree: worktree?.path,
    },
  )
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
