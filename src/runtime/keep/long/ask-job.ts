import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Json } from '../../../contract/base/json.ts'
import type { JsonSchema } from '../../../contract/base/schema.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { JobNews, LongTool } from '../../../contract/services/long-tool.ts'
import type { Registered } from '../../../contract/registry.ts'
import type { ToolContext } from '../../../contract/tool/tool.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { isIssue, toJson } from '../../../kit/json/to-json.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { redactorOf } from '../../record/treatments.ts'
import type { CallScope } from '../../state/scope.ts'
import { runSegment } from './run-segment.ts'
import type { StoredJob } from './stored-job.ts'

/** What came of asking a job how it is. */
export type Answer =
  | { readonly kind: 'running'; readonly state: Json | undefined; readonly progress: string }
  /** It has ended: its result, or why it failed. */
  | { readonly kind: 'ended'; readonly result: ToolResult }
  /** It could not be asked. */
  | { readonly kind: 'unasked'; readonly result: ToolResult }

export type Long = LongTool<ToolContext>

/** Asks a job how it is. */
export async function askJob(
  job: StoredJob,
  about: { long: Long; registered: Registered | undefined; callbacks: readonly Json[]; signal: AbortSignal },
  scope: CallScope,
): Promise<Answer> {
  const { long, registered, callbacks, signal } = about
  const { id, input, state } = job
  let news: JobNews | undefined
  const result = await runSegment(
    job,
    {
      name: `poll.${job.polls + 1}`,
      signal,
      outputSchema: (): JsonSchema | undefined =>
        news?.status === 'completed' ? long.outputSchema : undefined,
      async run(context) {
        news = checkNews(await long.poll({ job: id, input, state, callbacks }, context))
        if (news.status === 'running' && news.state !== undefined) checkState(news.state, registered, scope)
        return toReturn(news)
      },
    },
    scope,
  )
  if (news === undefined || (news.status === 'running' && !result.ok)) return { kind: 'unasked', result }
  if (news.status !== 'running') return { kind: 'ended', result }
  const { state: next, progress = '' } = news
  const now = { ...scope, tenant: scope.tenant.latest() }
  return { kind: 'running', state: next, progress: redactorOf(registered, now).text(progress) }
}

function toReturn(news: JobNews): unknown {
  switch (news.status) {
    case 'running':
      return toolOutput({ content: news.progress ?? 'It runs.', metadata: { status: 'running' } })
    case 'completed':
      return news.result
    case 'failed':
      return toolOutput({ error: { reason: 'job_failed', message: news.message } })
  }
}

/** What a program says of a job is not checked by a compiler alone. */
function checkNews(news: unknown): JobNews {
  const { status, progress = '', message = '' } = isPlainObject(news) ? news : {}
  const isFine =
    (status === 'running' && typeof progress === 'string') ||
    status === 'completed' ||
    (status === 'failed' && typeof message === 'string' && message !== '')
  if (isFine) return news as JobNews
  throw new ToolFailure({
    reason: 'invalid_news',
    message: `A long tool answers a poll with { status: "running" | "completed" | "failed", … }, a failure with its "message". Tell the developer of the tool.`,
  })
}

/** Bytes of a state. */
const mostState = 64 * 1024

/** What a job is known by stands in the store, where no secret may be, and has to come back as it was. */
export function checkState(state: unknown, registered: Registered | undefined, scope: CallScope): Json {
  const copied = toJson(state)
  const refuse = (why: string) =>
    new ToolFailure({
      reason: 'invalid_state',
      message: `The state of a job of "${registered?.definition.name ?? 'a tool'}" ${why}. Tell the developer of the tool.`,
    })
  if (isIssue(copied)) throw refuse('is not JSON')
  if (copied.size > mostState) throw refuse(`has more than ${mostState} bytes`)
  const { json } = copied
  if (canonicalJson(redactorOf(registered, scope).json(json)) !== canonicalJson(json))
    throw refuse(
      'has a secret in it, which is not kept: keep a name for it, and take the secret with context.secret',
    )
  return json
}
