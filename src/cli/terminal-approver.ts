import { createInterface } from 'node:readline/promises'
import type { ApprovalAnswer, ApprovalRequest, Approver } from '../contract/approval.ts'

/** Asks at the terminal; undefined where there is none, so that what needs asking is denied. */
export function createTerminalApprover(): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  return async (request, signal) => {
    process.stderr.write(describeRequest(request))
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
      const answer = await Promise.race([lines.question('Allow? once / session / deny: ', { signal }), ended])
      return toAnswer(answer)
    } finally {
      lines.close()
    }
  }
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
export function describeRequest(request: ApprovalRequest): string {
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
  return lines.map(showSafely).join('\n')
}

/** Control characters, bidirectional overrides and invisible letters become visible codes. */
function showSafely(line: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the very characters that must not reach a terminal
  return line.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
