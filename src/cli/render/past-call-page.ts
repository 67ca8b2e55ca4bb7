import type { Counterpart } from '../../contract/base/counterpart.ts'
import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { CallExplanation } from '../../compose/replay/explain-call.ts'
import { decisionLines, stepLines } from './explanation-page.ts'
import { showLine } from '../base/show-safely.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { shorten } from '../../kit/text/shorten.ts'

/**
 * Why a recorded call was decided as it was, and whether it would be now, as text for a terminal. What a model or a tool said stays on
 * its line.
 */
export function toPastCallPage(found: CallExplanation): string {
  const { begin } = found
  const lines = [
    `${begin.call} ${begin.tool}`,
    '',
    ...describeRecorded(found).map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    '',
    ...describeNow(found),
  ]
  return lines.map((line) => `${showLine(line)}\n`).join('')
}

type Row = readonly [name: string, value: string]

function describeRecorded(found: CallExplanation): Row[] {
  const { begin, end, input, operations, policyVersion } = found
  const { decision, profile, definition, partOf } = begin
  return [
    [
      'at',
      `${toTime(begin.at)}${end === undefined ? '' : `, ended ${showDuration(end.at - begin.at)} later`}`,
    ],
    ['by', describeCaller(begin)],
    ...(begin.counterpart === undefined
      ? []
      : [['asked by', describeCounterpart(begin.counterpart)] as const]),
    ['session', begin.session],
    ...(partOf === undefined ? [] : [['part of', `${partOf.call}, as ${partOf.part}`] as const]),
    ['definition', definition === '' ? 'none: no such tool, or none that the session had' : definition],
    ['policy', `${begin.policy}${policyVersion === undefined ? '' : `, version ${policyVersion}`}`],
    ['input', input === undefined ? '(not kept)' : shorten(JSON.stringify(input), 500)],
    ...operations.map((operation): Row => ['would reach', describeOperation(operation)]),
    [
      'decision',
      decision === undefined ? 'none: the call ended before one was made' : describeDecision(decision),
    ],
    ...describeAnswer(found),
    ...(profile === undefined ? [] : [['profile', profile] as const]),
    ...describeEnd(found, end),
    ...(end?.counterpart === undefined ? [] : [['done by', describeCounterpart(end.counterpart)] as const]),
  ]
}

/** The record of the call at the other side. */
function describeCounterpart({ domain, call, record, key }: Counterpart): string {
  const named = record === undefined ? '' : `, record ${record}`
  return `${domain} as ${call}${named}${key === undefined ? '' : `, token signed by ${key}`}`
}

function describeCaller({
  actor,
  tenant,
  role,
  mode = 'default',
  origin,
  parents = [],
}: BeginRecord): string {
  const below = parents.map((parent) => `, below ${parent.session} as ${parent.role}`)
  return `"${actor}" of tenant "${tenant}" as ${role} in mode ${mode}, origin ${origin}${below.join('')}`
}

function describeApproval(
  { decision, preview, reason, metadata }: NonNullable<BeginRecord['approval']>,
  what: string,
): Row {
  const why = reason === undefined ? '' : ` – ${reason}`
  const by = metadata?.['by']
  const who = typeof by === 'string' ? by : 'the person'
  return ['answer', `${decision} by ${who}, to ${what} ${preview}${why}`]
}

/** What stood in for the person's yes, or the yes itself. */
function describeAnswer({ begin, end, consent, grantedBy }: CallExplanation): Row[] {
  const { approval, decision } = begin
  const reviewed = end?.approval && describeApproval(end.approval, 'what it did')
  if (approval !== undefined)
    return [describeApproval(approval, 'the preview'), ...(reviewed === undefined ? [] : [reviewed])]
  if (reviewed !== undefined) return [reviewed]
  if (begin.consent === undefined) return []
  if (decision?.layer === 'session-approval') {
    const when = grantedBy === undefined ? '' : `, ${toTime(grantedBy.at)}`
    return [['answer', `the yes for the session that was given to ${begin.consent}${when}`]]
  }
  if (decision?.effect === 'ask')
    return [['answer', `the yes of the person to ${begin.consent}, whose result was given again`]]
  if (consent === undefined) return [['answer', `the consent ${begin.consent}`]]
  const { id, givenBy, scope, givenAt, expiresAt, revokedAt, reason } = consent
  const until = revokedAt === undefined ? `until ${toTime(expiresAt)}` : `revoked ${toTime(revokedAt)}`
  const why = reason === undefined ? '' : ` – ${reason}`
  return [['answer', `the consent ${id} (${scope}) that ${givenBy} gave ${toTime(givenAt)}, ${until}${why}`]]
}

function describeEnd({ message }: CallExplanation, end: EndRecord | undefined): Row[] {
  if (end === undefined) return [['end', 'it has not ended']]
  if (end.code === undefined) return [['end', end.outcome]]
  const row: Row = ['end', `${end.outcome}, ${end.code} (${end.reason ?? ''})`]
  return message === undefined ? [row] : [row, ['', message]]
}

function describeNow({ begin, now, differences }: CallExplanation): string[] {
  const lines = differences.flatMap(({ what, recorded, now: current }) => [
    `  ${what.padEnd(11)} recorded  ${recorded}`,
    `  ${' '.repeat(11)} now       ${current}`,
  ])
  if ('obstacle' in now)
    return [`Whether the same would be decided now cannot be told: ${now.obstacle}.`, ...lines]
  const { preflight } = now
  const policy =
    preflight.policyDigest === begin.policy
      ? 'under the same policy'
      : `under another policy (${preflight.policyDigest})`
  const same = lines.length === 0 ? 'the same is decided.' : 'this is another:'
  const elsewhere = preflight.error?.code === 'SANDBOX.CAPABILITY_BLOCKED' && lines.length > 0
  return [
    `Now, ${policy}, ${same}`,
    ...lines,
    ...(elsewhere ? ['  Where the call was made in another project, name that with --project.'] : []),
    '',
    ...stepLines(preflight),
    '',
    ...decisionLines(preflight),
  ]
}

function describeDecision({ effect, layer, rule }: NonNullable<BeginRecord['decision']>): string {
  return `${effect} by ${layer}/${rule}`
}

function describeOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'fs.read':
    case 'fs.write':
      return `${operation.kind} ${operation.path}`
    case 'process':
      return `process ${operation.executable} ${JSON.stringify(operation.argv)} in ${operation.cwd}`
    case 'net':
      return `net ${operation.url}`
    case 'other':
      return `other ${operation.resource}`
  }
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}

/** The whole of it is in `handrail evidence show`. */
