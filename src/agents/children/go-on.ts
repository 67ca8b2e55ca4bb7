import type { AgentRun } from '../../contract/agent-run.ts'
import type { Session } from '../../contract/runtime.ts'
import { openRun } from '../loop/open-run.ts'
import type { KeptRun, RunParent } from '../loop/run-book.ts'
import type { ChildPorts } from './child-ports.ts'
import { findDefinition, findModel } from './choose.ts'
import { openWorktree } from './worktree.ts'

/** An agent that goes on as what it was. */
export interface GoingOn {
  readonly run: Pick<KeptRun, 'id'> & { readonly parent: RunParent }
  readonly session: Session
  readonly ports: ChildPorts
  readonly signal: AbortSignal
  /** Whether its calls wait while a person is asked. */
  readonly waits: boolean
  /** The name of its model. */
  readonly model: string | undefined
  /** What it is told next; undefined if it goes on with what it was told. */
  readonly prompt?: string | undefined
  readonly maxTurns?: number | undefined
}

/** Goes on with the agent of a call, in a session below that of the call again, and in its worktree if it has one. */
export async function goOn({
  run,
  session,
  ports,
  signal,
  waits,
  model: name,
  prompt,
  maxTurns,
}: GoingOn): Promise<AgentRun> {
  const { id, parent } = run
  const definition = await findDefinition(parent.definition, session, ports)
  const { model, price } = findModel(name, { definition, parentRun: ports.runOf(session), ports })
  const { toolCallId } = parent
  const worktree =
    parent.worktree === undefined
      ? undefined
      : await openWorktree({ session, toolCallId, waits: false, signal, agent: id }, ports)
  return openRun(
    {
      resume: id,
      model,
      session: { parent: session },
      signal,
      wait: waits,
      ...(price !== undefined && { price }),
      ...(prompt !== undefined && { prompt }),
      ...(maxTurns !== undefined && { maxTurns }),
    },
    ports,
    { id, parent, nodes: [], worktree: worktree?.path },
  )
}
