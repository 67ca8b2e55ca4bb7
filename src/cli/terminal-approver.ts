import type { ApprovalRequest, Approver } from '../contract/approval.ts'
import { askForChoice } from './ask-for-choice.ts'
import { showLine } from './show-safely.ts'
import type { Terminal } from './terminal.ts'

/** Asks at the terminal. A line that is not understood is asked for again; none denies. */
export function createTerminalApprover(terminal: Terminal): Approver {
  return (request, signal) =>
    terminal.talk(signal, async (person) => {
      person.show(describeRequest(request))
      return { decision: (await askForChoice(person, question)) ?? 'deny' }
    })
}

/** Says the same to every request; for `--approve`. */
export function createFixedApprover(word: keyof typeof decisions): Approver {
  return async () => ({ decision: decisions[word], metadata: { by: 'command line' } })
}

const decisions = { once: 'allow_once', session: 'allow_for_session', deny: 'deny' } as const

/** A short yes is the smallest one. */
const question = {
  prompt: 'Allow? once / deny / session (in full): ',
  words: { ...decisions, yes: decisions.once, no: decisions.deny },
  inFull: ['session'],
  hint: 'Type once (or yes), deny (or no), or the whole word session.',
}

/** Everything a person needs to decide, with nothing that could drive the terminal. */
function describeRequest(request: ApprovalRequest): string {
  const lines = [
    '',
    `${request.tool} wants to run${request.dangerous ? '  (dangerous)' : ''}`,
    `  ${request.preview.title}`,
    ...request.preview.body.split('\n').map((line) => `  | ${line}`),
    `  why asked: ${request.because.reason}`,
    `  "session" would cover: ${request.scope}`,
    ...(request.cwd === undefined ? [] : [`  in: ${request.cwd}`]),
    ...(request.env.length === 0 ? [] : [`  sees the environment: ${request.env.join(', ')}`]),
    ...(request.hosts.length === 0 ? [] : [`  reaches: ${request.hosts.join(', ')}`]),
    ...request.hookNotes.map((note) => `  hook: ${note}`),
    ...(request.principal.agent === undefined
      ? []
      : [`  asked by agent ${request.principal.agent.agentId} (${request.principal.role})`]),
    '',
  ]
  return lines.map(showLine).join('\n')
}
