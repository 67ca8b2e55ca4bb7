import type { Job, JobCommand, Jobs } from '../../contract/base/job.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { holdJob, type JobContext } from './hold-job.ts'
import { refuseCounted } from '../state/refuse-counted.ts'

/** The jobs of a session, as one of its calls may use them. What it starts is bound to what it may touch. */
export function createSessionJobs(context: JobContext): Jobs {
  const { jobs } = context.scope.session
  return {
    start: (command) => startJob(command, context),
    list: () => jobs.list().map((job) => job.view()),
    find: (id) => jobs.find(id).view(),
    read: (id, options) => jobs.find(id).log.read(options),
    async wait(id, timeoutMs, signal) {
      const { ended } = jobs.find(id)
      await withinMs(
        beforeAbort(signal, () => ended),
        timeoutMs,
      )
    },
    async stop(id, reason) {
      const job = jobs.find(id)
      job.stop(reason)
      await job.ended
      return job.view()
    },
  }
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
