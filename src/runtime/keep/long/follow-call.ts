import type { CallError } from '../../../contract/base/errors.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { toOutcome } from '../../../kit/result/to-outcome.ts'
import { tellWatcher } from '../../../kit/time/tell-watcher.ts'
import type { Called } from '../../state/call-state.ts'
import type { JobTable } from '../../state/job-table.ts'

/** The result of a call with what became of the job that it started: what the job returned, or why it did not. A signal ends the job. */
export async function followCall(
  started: ToolResult,
  { jobs }: { readonly jobs: JobTable },
  { signal, onProgress }: Pick<Called, 'signal' | 'onProgress'>,
): Promise<ToolResult> {
  const id = started.ok ? started.metadata.tool?.['job'] : undefined
  const job = typeof id === 'string' ? jobs.find(id) : undefined
  if (job === undefined) return started
  const stop = (): void => job.stop('its call was aborted')
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop, { once: true })
  if (onProgress !== undefined) job.onLine = (message) => tellWatcher(onProgress, { message }, () => {})
  await job.ended
  signal?.removeEventListener('abort', stop)
  const { callId, toolCallId } = started
  const { end } = job.view()
  if (job.result !== undefined && (end?.how === 'completed' || end?.how === 'failed'))
    return { ...job.result, callId, toolCallId }
  const error = toError(started.tool, job.id, end)
  return {
    ...started,
    ok: false,
    outcome: toOutcome(error),
    content: [{ type: 'text', text: error.message }],
    summary: error.message,
    error,
  }
}

function toError(tool: string, job: string, end: { how: string; reason?: string } | undefined): CallError {
  const why = end?.reason === undefined ? '' : `: ${end.reason}`
  const message = `The job "${job}" of "${tool}" ${end === undefined ? 'goes on without its session, and is not followed here any more' : `ended as ${end.how}${why}`}.`
  const data = { job, how: end?.how ?? 'running' }
  if (end?.how === 'stopped' || end?.how === 'interrupted')
    return callError('TOOL.ABORTED', end.how === 'stopped' ? 'aborted_by_user' : 'run_cancelled', {
      message,
      data,
    })
  if (end?.how === 'timeout') return callError('TOOL.TIMEOUT', 'timed_out', { message, data })
  return callError('TOOL.FAILED', 'job_failed', { message, data })
}
