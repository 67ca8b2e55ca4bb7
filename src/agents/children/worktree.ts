import { relative } from 'node:path'
import type { StartingCall } from '../../contract/agent-host.ts'
import type { ChildReport } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Session } from '../../contract/runtime.ts'
import type { AgentWorktree, ChildPorts } from './child-ports.ts'

/** What makes worktrees. */
const enterTool = 'code.enter_worktree'

/** Who wants a worktree for an agent. */
export type WorktreeWish = Pick<StartingCall, 'session' | 'toolCallId' | 'waits'> & {
  readonly signal: AbortSignal
  /** The agent, by the id of its run. */
  readonly agent: string
}

/** The name of the worktree of an agent. */
export function worktreeName(agent: string): string {
  return `agent-${agent.replace(/^run_/, '')}`
}

/**
 * The worktree of an agent: the one that it has, or a new one, made by a call of the session that starts it. So it is decided, asked about and recorded as
 * every call of `code.enter_worktree`. It is noted before it is made, so that one that a killed process leaves is found. Fails with
 * `no_isolation` or `POLICY.APPROVAL_PENDING`.
 */
export async function openWorktree(wish: WorktreeWish, ports: ChildPorts): Promise<AgentWorktree> {
  const { session, agent } = wish
  const { tenant } = session.principal
  const name = worktreeName(agent)
  await sweepWorktrees(session, ports)
  await take(agent, session, ports)
  const there = await ports.worktrees.find(tenant, name)
  if (there !== undefined) return there
  try {
    return await makeWorktree(wish, ports)
  } catch (error) {
    if ((await ports.worktrees.find(tenant, name)) === undefined) await forget(session, agent, ports)
    throw error
  }
}

/** What becomes of the worktree of an agent that ended: it is removed, unless there is work in it. Returns what was kept. */
export async function closeWorktree(
  agent: string,
  session: Session,
  ports: ChildPorts,
): Promise<ChildReport['worktree']> {
  const { tenant } = session.principal
  const name = worktreeName(agent)
  try {
    const before = await ports.worktrees.find(tenant, name)
    if (before !== undefined) await ports.worktrees.leave(before.path)
    const clearing = () => note(agent, { session, state: 'clearing' }, ports)
    const kept = await ports.worktrees.clear(tenant, name, { state: 'used', clearing })
    if (kept === undefined) await forget(session, agent, ports)
    else await note(agent, { session, state: 'kept' }, ports)
    return kept && toShown(kept, session, ports)
  } catch (error) {
    // What cannot be looked at is left where it is, and stays noted.
    ports.report(agent, error)
    return findWorktree(agent, session, ports)
  }
}

/** The worktree of an agent, as it is told. */
export async function findWorktree(
  agent: string,
  session: Session,
  ports: ChildPorts,
): Promise<ChildReport['worktree']> {
  const { tenant } = session.principal
  if (ports.store.documents({ tenant, kind: 'worktree', group: agent }).length === 0) return undefined
  const found = await ports.worktrees.find(tenant, worktreeName(agent))
  return found && toShown(found, session, ports)
}

/** A worktree as the agent that started its own sees it. */
export function toShown(
  { path, branch }: AgentWorktree,
  session: Session,
  { projectOf }: ChildPorts,
): NonNullable<ChildReport['worktree']> {
  return { path: relative(projectOf(session), path), branch }
}

async function makeWorktree(
  { session, toolCallId, waits, signal, agent }: WorktreeWish,
  ports: ChildPorts,
): Promise<AgentWorktree> {
  const name = worktreeName(agent)
  const step = await session.step(
    [{ id: `${toolCallId}.worktree`, tool: enterTool, input: { name }, origin: 'system' }],
    { signal, wait: waits, anew: true },
  )
  const [waiting] = step.waiting
  if (waiting !== undefined)
    throw new ToolFailure({
      code: 'POLICY.APPROVAL_PENDING',
      reason: 'waiting',
      message: 'The worktree of the agent waits for a person. The agent starts when they have answered.',
      data: { approval: waiting.approval.id, agent },
    })
  const error = step.results[0]?.error
  const made = error === undefined ? await ports.worktrees.find(session.principal.tenant, name) : undefined
  if (made !== undefined) return made
  throw new ToolFailure({
    reason: 'no_isolation',
    message: `The agent did not start, as it could not have a git worktree of its own: ${error?.message ?? 'there is none after all.'}`,
    data: { because: error?.reason ?? 'unknown_worktree' },
  })
}

/**
 * Clears what agents left whose process was ended. An agent that waits for a person keeps its own, and so does one in another process. What has work in it
 * stays, and stays noted.
 */
async function sweepWorktrees(session: Session, ports: ChildPorts): Promise<void> {
  const { tenant } = session.principal
  const project = ports.projectOf(session)
  for (const { group: agent, value } of ports.store.documents({ tenant, kind: 'worktree' })) {
    if (!isPlainObject(value) || value['state'] === 'kept' || value['project'] !== project) continue
    const { writer } = value
    if (typeof writer === 'string' && ports.store.lives(writer)) continue
    const isCut = value['state'] === 'clearing'
    // Another process may clear it, or go on with its agent.
    if (!(await isTaken(agent, { session, was: value, state: isCut ? 'clearing' : 'used' }, ports))) continue
    const run = ports.book.load(tenant, agent)
    if (run?.endReason === 'approval_pending') continue
    try {
      const kept = await ports.worktrees.clear(tenant, worktreeName(agent), {
        state: run === undefined ? 'new' : isCut ? 'clearing' : 'used',
        clearing: () => note(agent, { session, state: 'clearing' }, ports),
      })
      if (kept === undefined) await forget(session, agent, ports)
    } catch (error) {
      ports.report(agent, error)
    }
  }
}

/** Notes the worktree of an agent that begins or goes on. Fails if another process is about to clear it. */
async function take(agent: string, session: Session, ports: ChildPorts): Promise<void> {
  const { tenant } = session.principal
  const [before] = ports.store.documents({ tenant, kind: 'worktree', group: agent })
  const was = before?.value ?? null
  const writer = isPlainObject(was) ? was['writer'] : undefined
  const isElsewhere = typeof writer === 'string' && writer !== ports.store.writer && ports.store.lives(writer)
  if (!isElsewhere && (await isTaken(agent, { session, was, state: 'used' }, ports))) return
  throw new ToolFailure({
    reason: 'no_isolation',
    message: 'Another process looks at the worktree of the agent. Make the call again in a moment.',
    data: { because: 'document_changed' },
  })
}

/** Writes the note if it still is what it was. */
async function isTaken(
  agent: string,
  { session, was, state }: { session: Session; was: Json; state: 'used' | 'clearing' },
  { store, projectOf }: ChildPorts,
): Promise<boolean> {
  const { tenant } = session.principal
  const value = { project: projectOf(session), writer: store.writer, state }
  const change = { tenant, kind: 'worktree' as const, group: agent, id: worktreeName(agent), value, was }
  try {
    await store.append([], { documents: [change] })
    return true
  } catch (error) {
    if (isDocumentChanged(error)) return false
    throw error
  }
}

async function note(
  agent: string,
  { session, state }: { session: Session; state: 'used' | 'clearing' | 'kept' },
  { store, projectOf }: ChildPorts,
): Promise<void> {
  const { tenant } = session.principal
  const value = { project: projectOf(session), writer: store.writer, state }
  const change = { tenant, kind: 'worktree' as const, group: agent, id: worktreeName(agent), value }
  await store.append([], { documents: [change] })
}

async function forget(session: Session, agent: string, { store }: ChildPorts): Promise<void> {
  const { tenant } = session.principal
  const change = {
    tenant,
    kind: 'worktree' as const,
    group: agent,
    id: worktreeName(agent),
    value: undefined,
  }
  await store.append([], { documents: [change] })
}
