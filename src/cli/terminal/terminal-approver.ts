import type { ApprovalRequest, Approver } from '../../contract/approval.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { askForChoice } from './ask-for-choice.ts'
import { paintDiff } from './paint.ts'
import { showLine } from '../base/show-safely.ts'
import type { Terminal } from './terminal.ts'

/** A request with more lines than this pushes what it begins with off the screen. */
const longLines = 15

/** Who sits at the terminal, and who asks there. */
interface TerminalApproverOptions {
  /** For those whose sessions go on after the call, and who ask for several callers. Default true. */
  readonly asksForSession?: boolean
  /** Whose answers they are. Default: the actor who asks, which is who typed the command. */
  readonly by?: string
}

/**
 * Asks at the terminal. A line that is not understood is asked for again; none denies. The question ends at once if it is answered elsewhere.
 */
export function createTerminalApprover(
  terminal: Terminal,
  { asksForSession = true, by }: TerminalApproverOptions = {},
): Approver {
  return async (request, signal) => {
    const askedAt = performance.now()
    const onAbort = (): void => tellAnsweredElsewhere(signal.reason)
    return terminal.talk(signal, async (person) => {
      signal.addEventListener('abort', onAbort, { once: true })
      const leftMs = request.timeoutMs - (performance.now() - askedAt)
      const about = { asksForSession, leftMs, waiting: person.waiting() }
      person.show(describeRequest(request, about))
      const question = asksForSession ? withSession : withoutSession
      const prompt = `${request.ran ? 'Keep it' : 'Allow'}? ${question.choices}: `
      const decision = (await askForChoice(person, { ...question, prompt })) ?? 'deny'
      signal.removeEventListener('abort', onAbort)
      return { decision, by: by ?? request.principal.actor }
    })
  }
}

function tellAnsweredElsewhere(reason: unknown): void {
  if (reason instanceof Error && reason.name === 'AnsweredElsewhere')
    process.stderr.write(`\n  ${showLine(reason.message)}\n`)
}

/** Says the same to every request; for `--approve`. */
export function createFixedApprover(word: keyof typeof decisions): Approver {
  const answer = { decision: decisions[word], metadata: { by: 'command line' } } as const
  return Object.assign(async () => answer, { ahead: true })
}

const decisions = { once: 'allow_once', session: 'allow_for_session', deny: 'deny' } as const
const { once, deny } = decisions
const words = { once, deny, yes: once, no: deny }

/** A short yes is the smallest one. */
const withSession = {
  choices: 'once / deny / session (in full)',
  words: { ...words, session: decisions.session },
  inFull: ['session'],
  hint: 'Type once (or yes), deny (or no), or the whole word session.',
}

const withoutSession = {
  choices: 'yes / no',
  words,
  hint: 'Type yes or no.',
}

interface About {
  readonly asksForSession: boolean
  readonly leftMs: number
  /** Others that wait for the person. */
  readonly waiting: number
}

/** Everything a person needs to decide, with nothing that could drive the terminal. */
function describeRequest(request: ApprovalRequest, { asksForSession, leftMs, waiting }: About): string {
  const { principal, preview } = request
  const { agent } = principal
  const others =
    waiting === 0 ? [] : [`  ${waiting === 1 ? '1 more waits' : `${waiting} more wait`} after this`]
  const lines = [
    '',
    `${request.tool} ${request.ran ? 'has run, and nothing of it is in force' : 'wants to run'}${request.dangerous ? '  (dangerous)' : ''}`,
    `  ${preview.title}`,
    ...preview.body.split('\n').map((line) => `  | ${line}`),
    ...(asksForSession
      ? [`  asked by: ${principal.actor} of ${principal.tenant} as ${principal.role}, ${request.session}`]
      : []),
    ...(agent === undefined ? [] : [`  asked by agent ${agent.agentId} (${principal.role})`]),
    `  why asked: ${request.because.reason}`,
    ...(asksForSession ? [`  "session" would cover: ${request.scope}`] : []),
    ...(request.cwd === undefined ? [] : [`  in: ${request.cwd}`]),
    ...(request.env.length === 0 ? [] : [`  sees the environment: ${request.env.join(', ')}`]),
    ...(request.hosts.length === 0 ? [] : [`  reaches: ${request.hosts.join(', ')}`]),
    ...request.hookNotes.map((note) => `  hook: ${note}`),
    ...(request.approval === undefined
      ? []
      : [`  answer here, or elsewhere: handrail approvals show ${request.approval}`]),
    ...(asksForSession ? [`  no answer within ${showDuration(leftMs)} is a no`, ...others] : []),
  ]
  const again = lines.length > longLines ? [`${request.tool}: ${preview.title}`] : []
  return [...lines, ...again, ''].map(showLine).map(paintDiff).join('\n')
}
