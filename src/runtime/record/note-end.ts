import type { NoteRecord } from '../../contract/evidence.ts'
import type { Job } from '../../contract/services/job.ts'
import { networkFacts } from '../../kit/text/show-network.ts'
import type { Registered } from '../../contract/registry.ts'
import { redactorOf } from './treatments.ts'
import type { CallScope } from '../state/scope.ts'

/** Where a job ended. */
export interface JobPlace {
  readonly scope: CallScope
  /** The tool of the call that started it; undefined if that is not there any more. */
  readonly registered: Registered | undefined
  /** Of that call, if this process made it. */
  readonly toolCallId: string | undefined
}

/** Says in the evidence, and to watchers, that a job ended. Its end is not part of its call, which has ended: a note reports it. */
export function noteEnd(job: Job, place: JobPlace): void {
  place.scope.tenant.evidence.note(toEndNote(job, place))
  tellEnd(job, place)
}

/** The note of the end of a job. */
export function toEndNote({ id, kind, bytes, call, tool, end }: Job, place: JobPlace): NoteRecord {
  if (end === undefined) throw new Error('A job that runs has no end to note.')
  const { scope, registered } = place
  const { session } = scope
  const redactor = redactorOf(registered, scope)
  const text = redactor.text(end.reason ?? '')
  const data = {
    job: id,
    how: end.how,
    ...(kind === 'command' && { exit_code: end.exitCode, signal: end.signal }),
    bytes,
    ...(text !== '' && { reason: text }),
    ...(end.notes !== undefined && { notes: redactor.json([...end.notes]) }),
    ...(end.artifact !== undefined && { artifact: end.artifact.digest }),
    ...redactor.json(networkFacts(end.network)),
  }
  return {
    kind: 'note',
    event: 'job_ended',
    tenant: session.principal.tenant,
    session: session.id,
    call,
    at: end.at,
    message: `${id} of ${tool}: ${end.how}`,
    actor: session.principal.actor,
    tool,
    data,
  }
}

/** Tells those who follow the session that a job of it ended. */
export function tellEnd(job: Job, place: JobPlace): void {
  const { session } = place.scope
  if (!session.watched()) return
  const { call, tool, end } = job
  const { message, data } = toEndNote(job, place)
  const isFine = end?.how === 'completed' || (end?.how === 'exit' && end.exitCode === 0)
  session.emit({
    type: 'job_ended',
    level: isFine ? 'info' : 'failure',
    call,
    ...(place.toolCallId !== undefined && { toolCallId: place.toolCallId }),
    tool,
    summary: message,
    ...(data !== undefined && { data }),
  })
}
