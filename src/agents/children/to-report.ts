import type { RunResult } from '../../contract/agent-run.ts'
import type { ChildReport, ChildWish } from '../../contract/base/child-agents.ts'
import type { KeptRun } from '../loop/run-book.ts'
import type { ChildPorts } from './child-ports.ts'

/** What there is to say of an agent that has just started. */
export const emptyReport = { text: '', turns: 0, usage: { inputTokens: 0, outputTokens: 0 } }

/** The definition of an agent, if it has one. */
export function named({ definition }: Pick<ChildWish, 'definition'>): { definition?: string } {
  return definition === undefined ? {} : { definition }
}

/** How an agent ended. */
export function toReport(result: RunResult, definition: string | undefined): ChildReport {
  const { id, endReason, text, output, turns, usage, error, waiting } = result
  const [first] = waiting
  return {
    agent: id,
    ...named({ definition }),
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

/** How an agent stands now. */
export function toPresent(
  { id, result, parent, state, turns, usage, writer }: KeptRun,
  { store }: ChildPorts,
): ChildReport {
  const definition = parent?.definition
  if (result !== null && state === 'ended') return toReport(result, definition)
  const isRunning = state === 'running' && store.lives(writer)
  return {
    agent: id,
    ...named({ definition }),
    state: isRunning ? 'running' : 'ended',
    text: '',
    turns,
    usage,
  }
}
