import type { ApprovalAnswer, ApprovalRequest, Approver } from '../contract/approval.ts'
import { showLine } from './show-safely.ts'
import type { Terminal } from './terminal.ts'

/** Asks at the terminal. A line answers one request; no line denies. */
export function createTerminalApprover(terminal: Terminal): Approver {
  return (request, signal) =>
    terminal.talk(signal, async (person) => {
      person.show(describeRequest(request))
      return toAnswer((await person.ask('Allow? once / session / deny: ')) ?? '')
    })
}

/** Says the same to every request; for `--approve`. */
export function createFixedApprover(word: 'once' | 'session' | 'deny'): Approver {
  return async () => ({ ...toAnswer(word), metadata: { by: 'command line' } })
}

/** Only these words mean yes; anything else is no. */
function toAnswer(word: string): ApprovalAnswer {
  switch (word.trim().toLowerCase()) {
    case 'once':
      return { decision: 'allow_once' }
    case 'session':
      return { decision: 'allow_for_session' }
    default:
      return { decision: 'deny' }
  }
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
