import type { DocumentChange } from '../../../contract/documents.ts'
import { isDocumentChanged } from '../../../kit/result/is-document-changed.ts'
import { toEndNote } from '../../record/note-end.ts'
import type { CallScope } from '../../state/scope.ts'
import { maxEnded } from '../../state/job-table.ts'
import { readJob, readJobs, toDocument, viewStored, type JobGroup, type StoredJob } from './stored-job.ts'

/** What forgets the jobs of a session that ended, but for the last ones. */
export function forgetOld(group: JobGroup, { tenant }: CallScope): DocumentChange[] {
  const ended = readJobs(group, tenant.store).filter(({ phase }) => phase === 'ended')
  return ended.slice(0, Math.max(0, ended.length - maxEnded + 1)).map((job) => toRemoval(group, job))
}

/** Forgets the jobs of a session that is never opened again: what they did is in the evidence. */
export async function forgetJobs({ tenant, session }: CallScope): Promise<void> {
  if (session.staysOpen || !session.jobs.list().some((job) => job.view().kind === 'tool')) return
  const group = { tenant: session.principal.tenant, session: session.id }
  const ended = readJobs(group, tenant.store).filter(({ phase }) => phase === 'ended')
  const documents = ended.map((job) => toRemoval(group, job))
  // What is left is of no use, and of no harm.
  if (documents.length > 0) await tenant.store.append([], { documents })?.catch(() => {})
}

/** Says that the jobs are over whose process was killed, and whose session is never opened again. */
export async function sweepJobs({ tenant, session }: CallScope): Promise<void> {
  const { store, evidence } = tenant
  const of = session.principal.tenant
  for (const { group, value } of store.documents({ tenant: of, kind: 'job' })) {
    const [job] = readJob(value)
    if (job === undefined || job.staysOpen || job.phase === 'ended' || store.lives(job.writer)) continue
    const end = { how: 'interrupted' as const, at: tenant.now(), reason: 'its process ended' }
    const note = toEndNote(viewStored({ ...job, end }), {
      scope: { tenant, session },
      registered: session.find(job.tool, 'canonical'),
      toolCallId: job.toolCallId,
    })
    const removal = { ...toRemoval({ tenant: of, session: group }, job), was: value }
    try {
      await evidence.tell({ ...note, session: group, actor: job.actor }, { documents: [removal] })
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

function toRemoval(group: JobGroup, job: StoredJob): DocumentChange {
  return { ...toDocument(group, job), value: undefined }
}
