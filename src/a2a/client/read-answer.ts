import { TaskState, type Message, type Part, type Task } from '@a2a-js/sdk'
import type { Json } from '../../contract/base/json.ts'
import type { ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { oneLine } from '../../kit/text/one-line.ts'
import { callExtension, type CallFacts } from '../base/protocol.ts'

/** Whose answer it is. */
export interface AnswerOf {
  /** As the operator calls the agent. */
  readonly agent: string
  /** Canonical name of the tool. */
  readonly tool: string
}

/** Whether a task goes on by itself. */
export function isAtWork({ status }: Task): boolean {
  const state = status?.state
  return state === TaskState.TASK_STATE_WORKING || state === TaskState.TASK_STATE_SUBMITTED
}

/** What the other side says of its own record of a call. */
export function readFacts({ metadata }: Task): CallFacts {
  const facts: unknown = metadata?.[callExtension]
  if (!isPlainObject(facts)) return {}
  const { call, record, outcome, error } = facts
  return {
    ...(typeof call === 'string' && { call }),
    ...(typeof record === 'string' && { record }),
    ...(typeof outcome === 'string' && { outcome }),
    ...(isPlainObject(error) && {
      error: {
        code: String(error['code']),
        reason: String(error['reason']),
        message: String(error['message']),
      },
    }),
  }
}

/** What an agent said at once, without a task. */
export function toMessageOutput({ parts, contextId }: Message, about: AnswerOf): ToolOutput {
  return toolOutput({
    content: parts.map((part) => toBlock(part, about)),
    ...(contextId !== '' && { metadata: { context: contextId } }),
  })
}

/** A task that goes no further, as what a tool returns. Every text of it stands between marks that say that it is data. */
export function toTaskOutput(task: Task, about: AnswerOf): ToolOutput {
  const { artifacts, id, contextId } = task
  const state = task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED
  const data = artifacts.find(({ artifactId }) => artifactId === 'data')?.parts[0]
  const shown = artifacts.filter(({ artifactId }) => artifactId !== 'data').flatMap(({ parts }) => parts)
  const said = state === TaskState.TASK_STATE_COMPLETED ? [] : (task.status?.message?.parts ?? [])
  const content = [...said, ...shown].map((part) => toBlock(part, about))
  if (state === TaskState.TASK_STATE_COMPLETED)
    return toolOutput({
      content: content.length === 0 && data !== undefined ? [toBlock(data, about)] : content,
      ...(data?.content?.$case === 'data' && { data: plain(data.content.value) }),
    })
  if (state === TaskState.TASK_STATE_INPUT_REQUIRED) {
    const next = `The agent waits for an answer. Give it with "task": ${JSON.stringify(id)} and "context": ${JSON.stringify(contextId)}.`
    return toolOutput({
      content: [...content, { type: 'text', text: next }],
      metadata: { state: 'input_required', task: id, context: contextId },
    })
  }
  return toolOutput({ content, error: toError(task, state, about) })
}

function toError(task: Task, state: TaskState, { agent, tool }: AnswerOf): NonNullable<ToolOutput['error']> {
  const { error, outcome } = readFacts(task)
  const why = error === undefined ? '' : ` (${oneLine(`${error.code}, ${error.reason}`, 200)})`
  const data = { agent, ...(error !== undefined && { remote: { code: error.code, reason: error.reason } }) }
  const says = 'What it says of that stands in the result.'
  if (outcome === 'unknown')
    return {
      code: 'PROVIDER.UNAVAILABLE',
      reason: 'connection_lost',
      message: `"${tool}" was cut off at "${agent}"${why}. Whether it was done is not known: look before you call it once more.`,
      data,
    }
  switch (state) {
    case TaskState.TASK_STATE_REJECTED:
      return {
        reason: 'remote_denied',
        message: `"${agent}" does not let this call of "${tool}" be done${why}, so nothing was done. ${says}`,
        data,
      }
    case TaskState.TASK_STATE_CANCELED:
      return { reason: 'remote_canceled', message: `"${agent}" ended "${tool}"${why}. ${says}`, data }
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return {
        reason: 'remote_denied',
        message: `"${agent}" wants credentials for "${tool}" that it was not given. The operator has to set its "headers".`,
        data,
      }
    default:
      return { reason: 'remote_failed', message: `"${tool}" failed at "${agent}"${why}. ${says}`, data }
  }
}

function toBlock({ content, mediaType }: Part, about: AnswerOf): ContentBlock {
  switch (content?.$case) {
    case 'text':
      return { type: 'text', text: mark(content.value, about) }
    case 'data':
      return { type: 'text', text: mark(JSON.stringify(plain(content.value), null, 2), about) }
    case 'raw': {
      const data = Buffer.from(content.value).toString('base64')
      if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType }
      if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType }
      return { type: 'resource', uri: `a2a:${about.tool}`, blob: data, mimeType: mediaType }
    }
    case 'url':
      return { type: 'resource', uri: content.value, ...(mediaType !== '' && { mimeType: mediaType }) }
    case undefined:
      return { type: 'text', text: mark('', about) }
  }
}

function mark(text: string, { agent, tool }: AnswerOf): string {
  return markUntrusted(text, tool, `the agent ${JSON.stringify(agent)}`)
}

function plain(value: unknown): Json {
  const copied = toJson(value ?? null)
  return isIssue(copied) ? null : copied.json
}
