import {
  runtimeOver,
  sessionOver,
  type AgentEnd,
  type BackgroundAgent,
  type KeptAgent,
} from '../../contract/agent-host.ts'
import type { TranscriptNode } from '../../contract/agent-run.ts'
import type { Session } from '../../contract/runtime.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { Store } from '../../contract/store.ts'
import { answerText } from '../loop/answer-text.ts'
import { timeOver, type BackgroundCall, type KeptRun, type RunBook } from '../loop/run-book.ts'

interface Kept {
  readonly book: RunBook
  readonly store: Store
}

/** The agents that a session started in the background, the oldest first, as the store has them. */
export function keptAgents(
  { id, principal: { tenant, actor } }: Pick<Session, 'id' | 'principal'>,
  { book, store }: Kept,
): KeptAgent[] {
  return book
    .children(tenant, id)
    .flatMap((child) => {
      const run = book.load(tenant, child)
      const background = run?.parent?.background
      if (run === undefined || background === undefined || run.actor !== actor) return []
      const end = endOf(run, store)
      return [{ ...toAgent(run, background, book), ...(end !== undefined && { end }) }]
    })
    .toSorted((one, other) => one.startedAt - other.startedAt)
}

/** An agent in the background. What it said is read whenever it is asked for, so that all processes say the same. */
export function toAgent(
  { id, tenant, startedAt }: Pick<KeptRun, 'id' | 'tenant' | 'startedAt'>,
  { call, tool, title }: BackgroundCall,
  book: RunBook,
): BackgroundAgent {
  const said = (): string => {
    if (book.load(tenant, id) === undefined) return ''
    return book.transcript(id, tenant).map(lineOf).join('')
  }
  return { id, call, tool, title, startedAt, said }
}

function lineOf(node: TranscriptNode): string {
  const text = node.type === 'assistant' ? answerText(node).trim() : ''
  return text === '' ? '' : `${text}\n`
}

/** How an agent ended, and where its work is; undefined while a process has it under way. */
export function endOf(run: KeptRun, store: Store): AgentEnd | undefined {
  const end = howEnded(run, store)
  const { id: group, tenant } = run
  const [worktree] = store.documents({ tenant, kind: 'worktree', group })
  const isKept = isPlainObject(worktree?.value) && worktree.value['state'] === 'kept'
  if (end === undefined || !isKept) return end
  return {
    ...end,
    notes: [
      `What it changed is in the worktree .handrail/worktrees/${worktree.id}, which agent.inspect_agent names with its branch.`,
    ],
  }
}

function howEnded(run: KeptRun, store: Store): AgentEnd | undefined {
  const { state, writer, startedAt, endReason, error, ended } = run
  if (state === 'running')
    return store.lives(writer)
      ? undefined
      : { how: 'interrupted', reason: 'its process ended', at: startedAt }
  const at = ended?.at ?? startedAt
  const by = ended?.by
  if (endReason === 'completed') return { how: 'completed', at }
  if (endReason !== 'aborted' && endReason !== 'aborted_tools')
    return { how: 'failed', reason: `${endReason}${error === undefined ? '' : `: ${error.message}`}`, at }
  if (by === timeOver) return { how: 'timeout', at }
  const how = by === sessionOver || by === runtimeOver ? 'interrupted' : 'stopped'
  return { how, reason: by ?? 'it was aborted', at }
}

/** The first line of a task, as a job is called. */
export function toTitle(task: string): string {
  const line = task.trim().replaceAll(/\s+/g, ' ')
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`
}
