import { setImmediate } from 'node:timers/promises'
import type { ApprovalAnswer, ApprovalRequest, Approver } from '../contract/approval.ts'
import { showLine } from './show-safely.ts'

/**
 * Asks at the terminal; undefined where there is none, so that what needs asking is denied. One question at a time: a line answers one
 * request. Ctrl-C denies and calls `onInterrupt`.
 */
export function createTerminalApprover(onInterrupt: () => void = () => {}): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  let last: Promise<unknown> = Promise.resolve()
  return (request, signal) => {
    const answer = last.then(() => askPerson(request, { signal, onInterrupt }))
    last = answer.catch(() => {})
    return answer
  }
}

async function askPerson(
  request: ApprovalRequest,
  { signal, onInterrupt }: { signal: AbortSignal; onInterrupt: () => void },
): Promise<ApprovalAnswer> {
  signal.throwIfAborted()
  await dropTypedAhead()
  process.stderr.write(describeRequest(request))
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<string>((resolve) => {
      lines.once('close', () => resolve(''))
      lines.once('SIGINT', () => {
        process.stderr.write('\n')
        resolve('')
        onInterrupt()
      })
    })
    return toAnswer(await Promise.race([lines.question('Allow? once / session / deny: ', { signal }), ended]))
  } finally {
    lines.close()
  }
}

/** What was typed before the question was on the screen is no answer to it. */
async function dropTypedAhead(): Promise<void> {
  process.stdin.resume()
  // One turn of the loop starts the reading, the next one reads all that waits.
  await setImmediate()
  await setImmediate()
  process.stdin.pause()
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
  return lines.map(showLine).join('\n')
}
