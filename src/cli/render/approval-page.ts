import type { PendingApproval, RecordedAnswer } from '../../contract/pending-approval.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { showLine } from '../base/show-safely.ts'
import { paintDiff } from '../terminal/paint.ts'

/** A question in one line: which, how it stands, what, for whom. */
export function toApprovalRow(approval: PendingApproval, now: number): string {
  const { id, request, tenant } = approval
  const { actor } = request.principal
  return showLine(
    `${id}  ${describeState(approval, now)}  ${request.tool}  for ${actor} of ${tenant}: ${request.preview.title}`,
  )
}

/** Everything that a person needs to decide, with nothing that could drive the terminal, as lines that each end. */
export function toApprovalPage(approval: PendingApproval, now: number): string {
  const { id, request, tenant, needed, askedAt, answers, digest } = approval
  const { principal, preview, because, parents } = request
  const said = request.ran ? 'has run, and nothing of it is in force' : 'wants to run'
  const rows: (readonly [name: string, value: string])[] = [
    ['asked by', `${principal.actor} of ${tenant} as ${principal.role}, ${request.session}`],
    ...(principal.agent === undefined ? [] : [['agent', principal.agent.agentId] as const]),
    ...parents.map(({ session, role }) => ['below', `${session} as ${role}`] as const),
    ['why asked', `${because.reason} (${because.layer}, ${because.rule})`],
    ['covers', `a yes for the session: ${request.scope}`],
    ...(request.cwd === undefined ? [] : [['in', request.cwd] as const]),
    ...(request.env.length === 0 ? [] : [['sees', `the environment: ${request.env.join(', ')}`] as const]),
    ...(request.hosts.length === 0 ? [] : [['reaches', request.hosts.join(', ')] as const]),
    ...request.hookNotes.map((note) => ['hook', note] as const),
    ['asked', `${new Date(askedAt).toISOString()}, ${showDuration(Math.max(0, now - askedAt))} ago`],
    ['state', describeState(approval, now)],
    ['needs', `${needed === 1 ? 'the yes of one person' : `the yes of ${needed} different people`}`],
    ...answers.map((answer) => ['answer', describeAnswer(answer)] as const),
    ...(approval.usedBy === undefined ? [] : [['used by', approval.usedBy] as const]),
    ['digest', digest],
  ]
  return [
    id,
    `${request.tool} ${said}${request.dangerous ? '  (dangerous)' : ''}`,
    `  ${preview.title}`,
    ...(preview.body === '' ? [] : preview.body.split('\n').map((line) => `  | ${line}`)),
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`),
  ]
    .map((line) => `${paintDiff(showLine(line))}\n`)
    .join('')
}

/** How far a question is, in words. */
export function describeState({ state, answers, needed, expiresAt }: PendingApproval, now: number): string {
  const by = answers.map((each) => each.by || 'a person').join(', ')
  switch (state) {
    case 'waiting': {
      const yeses = answers.length === 0 ? '' : `, ${answers.length} of ${needed} said yes`
      return `waiting${yeses}, ${showDuration(Math.max(0, expiresAt - now))} left`
    }
    case 'allowed':
      return `allowed by ${by}, not used yet`
    case 'denied':
      return `denied by ${answers.find(({ decision }) => decision === 'deny')?.by || 'a person'}`
    case 'expired':
      return 'expired'
    case 'used':
      return `used, answered by ${by}`
  }
}

function describeAnswer({ decision, by, at, reason }: RecordedAnswer): string {
  const why = reason === undefined ? '' : `: ${reason}`
  return `${decision} by ${by || 'a person'} at ${new Date(at).toISOString()}${why}`
}
