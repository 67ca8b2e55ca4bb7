import { ToolFailure } from '../../contract/base/errors.ts'
import type { Job, JobCommand, JobOutput, Jobs } from '../../contract/services/job.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { maxEnded, type HeldJob } from '../state/job-table.ts'
import type { CallScope } from '../state/scope.ts'
import { readAgent, toJobEnd, viewAgent } from './hold-agent.ts'
import { holdJob, type JobContext } from './hold-job.ts'
import { pageOf } from '../output/page-of.ts'
import { startLongJob } from './long/start-job.ts'
import { readJobs, viewStored, type StoredJob } from './long/stored-job.ts'
import { refuseCounted } from '../state/refuse-counted.ts'

/** The jobs of a session, as one of its calls may use them. What it starts is bound to what it may touch. */
export function createSessionJobs(context: JobContext): Jobs {
  const { scope } = context
  return {
    start: (command) => startJob(command, context),
    begin: (start) => startLongJob(start, context.admitted, scope),
    list: () => listJobs(scope),
    find: (id) => findJob(id, scope).view(),
    read: (id, options) => findJob(id, scope).read(options),
    async wait(id, timeoutMs, signal) {
      const { ended } = findJob(id, scope)
      if (ended === undefined) return
      await withinMs(
        beforeAbort(signal, () => ended),
        timeoutMs,
      )
    },
    async stop(id, reason) {
      const job = findJob(id, scope)
      if (job.stop === undefined) {
        if (job.view().end === undefined) throw elsewhere(id)
        return job.view()
      }
      job.stop(reason)
      await job.ended
      return job.view()
    },
  }
}

/** All jobs of a session, the oldest first: those of this process, and agents as the store has them. */
export function listJobs(scope: CallScope): readonly Job[] {
  const held = scope.session.jobs.list().map((job) => job.view())
  const ids = new Set(held.map(({ id }) => id))
  const kept = keptJobs(scope)
    .map(({ view }) => view())
    .filter(({ id }) => !ids.has(id))
  return [...held, ...kept].toSorted((one, other) => one.startedAt - other.startedAt)
}

/** A job; one that this process does not have under way cannot be stopped or waited for here. */
type FoundJob = Pick<HeldJob, 'id' | 'view'> & {
  read(options: { offset: number; maxBytes: number }): JobOutput
} & Partial<Pick<HeldJob, 'ended' | 'stop'>>

function findJob(id: string, scope: CallScope): FoundJob {
  const found = scope.session.jobs.find(id) ?? keptJobs(scope).find((job) => job.id === id)
  if (found !== undefined) return found
  throw new ToolFailure({
    reason: 'unknown_job',
    message: `There is no job "${id.slice(0, 80)}" in this session. job.list names those that there are; of commands that ended the last ${maxEnded} are kept.`,
  })
}

function keptJobs(scope: CallScope): FoundJob[] {
  const { session, tenant } = scope
  const group = { tenant: session.principal.tenant, session: session.id }
  const isOwn = ({ actor }: StoredJob): boolean => actor === session.principal.actor
  const ofTools = readJobs(group, tenant.store)
    .filter(isOwn)
    .map((job) => ({
      id: job.id,
      view: () => viewStored(job),
      read: (part: { offset: number; maxBytes: number }) => pageOf(job.said, part),
    }))
  const agents = tenant
    .agentHost()
    .kept(session.opened())
    .map((agent) => {
      const registered = session.find(agent.tool, 'canonical')
      const place = { scope, registered, toolCallId: undefined }
      return {
        id: agent.id,
        view: () => viewAgent(agent, agent.end && toJobEnd(agent.end), place),
        read: (options: { offset: number; maxBytes: number }) => readAgent(agent, options, place),
      }
    })
  return [...agents, ...ofTools]
}

function elsewhere(id: string): ToolFailure {
  return new ToolFailure({
    reason: 'job_elsewhere',
    message: `The job "${id}" runs in another process that has this session open. Stop it there; it is as it was.`,
    data: { job: id },
  })
}

async function startJob(command: JobCommand, context: JobContext): Promise<Job> {
  const { admitted, scope, watch } = context
  refuseCounted(admitted, 'a job', 'Run it without background.')
  const { job, begun } = holdJob(command, context)
  scope.session.jobs.add(job)
  const onAbort = () => job.stop('its call was aborted')
  watch.signal.addEventListener('abort', onAbort)
  try {
    await begun()
    return job.view()
  } catch (error) {
    scope.session.jobs.drop(job.id)
    throw error
  } finally {
    watch.signal.removeEventListener('abort', onAbort)
  }
}
