import type { Approver } from '../../contract/approval.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { createFixedApprover, createTerminalApprover } from '../terminal/terminal-approver.ts'
import { createTerminalElicitation } from '../terminal/terminal-elicitation.ts'

/** Who is asked in the process of a run. */
export interface Talk {
  readonly approve: Approver | undefined
  readonly elicit: ElicitationHandler | undefined
  /** Resolves when no question is on the screen, so that what happens meanwhile does not stand between it and its answer. */
  isOver(): Promise<unknown>
}

/** Asks at the terminal; `word` answers approvals in place of the person there. */
export function openTalk(terminal: Terminal | undefined, word: 'once' | 'deny' | undefined): Talk {
  const open = new Set<Promise<unknown>>()
  const kept =
    <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) =>
    (...asked: Asked): Promise<Answer> => {
      const answer = ask(...asked)
      open.add(answer)
      const end = (): void => void open.delete(answer)
      answer.then(end, end)
      return answer
    }
  const approve = terminal && kept(createTerminalApprover(terminal))
  return {
    approve: word === undefined ? approve : createFixedApprover(word),
    elicit: terminal && kept(createTerminalElicitation(terminal)),
    isOver: () => Promise.allSettled(open),
  }
}
