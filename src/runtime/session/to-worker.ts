import { abortCalls } from './abort-calls.ts'
import type { SessionState } from '../state/scope.ts'
import type { RunningWork, Worker } from '../stops/work-book.ts'
import type { Call } from '../../contract/base/call.ts'

/** What runs in a session, for one who stops it: its calls, and its jobs. */
export function toWorker(session: SessionState, running: Iterable<Call>): Worker {
  const about = (tool: string): Pick<RunningWork, 'tool' | 'source'> => ({
    tool,
    source: session.find(tool, 'canonical')?.source,
  })
  return {
    principal: session.principal,
    session: session.id,
    above: session.ancestors?.map((each) => each.session) ?? [],
    running: () => [
      ...[...running].map(({ id, tool, presentation, at }) => ({
        ...about(session.find(tool, presentation)?.definition.name ?? tool),
        call: id,
        at,
        stop: (reason: string | undefined) => void abortCalls(running, session.endings, { id, reason }),
      })),
      ...session.jobs.list().flatMap((job) => {
        const { tool, startedAt, end } = job.view()
        if (end !== undefined) return []
        const stop = (reason = 'it was aborted'): void => job.stop(reason)
        return [{ ...about(tool), call: undefined, at: startedAt, stop }]
      }),
    ],
  }
}
