import { setTimeout as wait } from 'node:timers/promises'
import { ToolFailure } from '../contract/errors.ts'
import type { Job, JobCommand, Jobs } from '../contract/job.ts'
import { holdJob, type JobGround } from './hold-job.ts'

/** The jobs of a session, as one of its calls may use them. What it starts is bound to what it may touch. */
export function createSessionJobs(ground: JobGround): Jobs {
  const { jobs } = ground.road.session
  return {
    start: (command) => startJob(command, ground),
    list: () => jobs.list().map((job) => job.view()),
    find: (id) => jobs.find(id).view(),
    read: (id, options) => jobs.find(id).log.read(options),
    async wait(id, timeoutMs, signal) {
      const { ended } = jobs.find(id)
      const over = new AbortController()
      const time = wait(timeoutMs, undefined, { signal: AbortSignal.any([signal, over.signal]) })
      // Only told to stop waiting: by the job's end, or with its call.
      await Promise.race([ended, time.catch(() => {})])
      over.abort()
    },
    async stop(id, reason) {
      const job = jobs.find(id)
      job.stop(reason)
      await job.ended
      return job.view()
    },
  }
}

async function startJob(command: JobCommand, ground: JobGround): Promise<Job> {
  const { road, watch } = ground
  refuseCounted(ground)
  const { job, begun } = holdJob(command, ground)
  road.session.jobs.add(job)
  const onAbort = () => job.stop('its call was aborted')
  watch.signal.addEventListener('abort', onAbort)
  try {
    await begun()
    return job.view()
  } catch (error) {
    road.session.jobs.drop(job.id)
    throw error
  } finally {
    watch.signal.removeEventListener('abort', onAbort)
  }
}

/** What a job spends after its call has ended would be missed by a budget that counts time. */
function refuseCounted({ admitted }: JobGround): void {
  const counting = admitted.budget?.accounts.find(({ unit }) => unit === 'cpuMs' || unit === 'wallMs')
  if (counting === undefined) return
  throw new ToolFailure({
    code: 'QUOTA.BUDGET_EXCEEDED',
    reason: counting.unit === 'cpuMs' ? 'cpu_ms' : 'wall_ms',
    message: `The budget "${counting.budget}" counts the time of "${admitted.registered.definition.name}", and cannot count that of a job. Run it without background.`,
    data: { budget: counting.budget },
  })
}
