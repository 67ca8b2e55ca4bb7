import { maxEnded, type HeldJob, type JobTable } from '../state/job-table.ts'
import { sessionAborted, sessionOver } from '../../contract/agent-host.ts'
import { ToolFailure } from '../../contract/base/errors.ts'

const maxRunning = 8

/** A shelf that is empty. All jobs end when `signal` is aborted. */
export function createJobTable(signal: AbortSignal | undefined): JobTable {
  const jobs = new Map<string, HeldJob>()
  let closed = false
  let listens = false

  const isRunning = (job: HeldJob): boolean => job.view().end === undefined
  const stopAll = (reason: string): void => {
    for (const job of jobs.values()) job.stop(reason)
  }
  const listen = (): void => {
    if (listens) return
    listens = true
    signal?.addEventListener('abort', () => stopAll(sessionAborted), { once: true })
  }
  return {
    add(job) {
      if (closed || signal?.aborted === true) throw tooLate()
      const all = [...jobs.values()]
      if (all.filter(isRunning).length >= maxRunning) throw tooMany()
      const ended = all.filter((each) => !isRunning(each))
      for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded + 1))) jobs.delete(id)
      listen()
      jobs.set(job.id, job)
    },
    adopt(job) {
      if (closed || signal?.aborted === true) return
      listen()
      jobs.set(job.id, job)
    },
    drop: (id) => void jobs.delete(id),
    list: () => [...jobs.values()],
    anyRuns: () => [...jobs.values()].some(isRunning),
    find: (id) => jobs.get(id),
    async close() {
      closed = true
      stopAll(sessionOver)
      await Promise.all([...jobs.values()].map((job) => job.ended))
    },
  }
}

function tooLate(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'run_cancelled',
    message: 'The session ended before the job was started.',
  })
}

function tooMany(): ToolFailure {
  return new ToolFailure({
    code: 'QUOTA.RATE_LIMITED',
    reason: 'concurrency',
    message: `${maxRunning} jobs of this session run already, which is as many as may. Stop one with job.stop, or wait for one to end.`,
  })
}
