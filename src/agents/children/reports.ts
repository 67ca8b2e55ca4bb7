import type { RunResult } from '../../contract/agent-run.ts'
import type { ChildReport } from '../../contract/base/child-agents.ts'
import type { KeptRun } from '../loop/run-book.ts'
import type { ChildPorts } from './child-ports.ts'

/** What is told of an agent beside its run. */
export interface ReportedPlace {
  readonly definition: string | undefined
  readonly worktree: ChildReport['worktree']
}

/** An agent that has just begun. */
export function toRunning(agent: string, place: ReportedPlace): ChildReport {
  const usage = { inputTokens: 0, outputTokens: 0 }
  return { agent, ...toShown(place), state: 'running', text: '', turns: 0, usage }
}

/** An agent that has ended. */
export function toReport(result: RunResult, place: ReportedPlace): ChildReport {
  const { id, endReason, text, output, turns, usage, error, waiting } = result
  const [first] = waiting
  return {
    agent: id,
    ...toShown(place),
    state: 'ended',
    endReason,
    text,
    turns,
    usage,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(first !== undefined && { waiting: first.id }),
  }
}

/** An agent as the store has it. */
export function toPresent(run: KeptRun, { store }: ChildPorts, place: ReportedPlace): ChildReport {
  const { id, result, state, turns, usage, writer } = run
  if (result !== null && state === 'ended') return toReport(result, place)
  const isRunning = state === 'running' && store.lives(writer)
  return {
    agent: id,
    ...toShown(place),
    state: isRunning ? 'running' : 'ended',
    text: '',
    turns,
    usage,
  }
}

function toShown({ definition, worktree }: ReportedPlace): Pick<ChildReport, 'definition' | 'worktree'> {
  return { ...(definition !== undefined && { definition }), ...(worktree !== undefined && { worktree }) }
}
