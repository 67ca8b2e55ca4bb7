import { Role, Task, TaskState, taskStateToJSON } from '@a2a-js/sdk'
import type { ContentBlock, ToolResult } from '../../contract/base/result.ts'
import { callExtension, type CallFacts } from '../base/protocol.ts'

/** A task that runs, or ended without a result of its call. */
export function toBareTask(id: string, state: TaskState, says: { message: string; facts?: CallFacts }): Task {
  return Task.fromJSON({
    id,
    contextId: id,
    status: toStatus(id, state, says.message),
    metadata: { [callExtension]: says.facts ?? {} },
  })
}

/** A call that ended, as its peer is told. */
export function toEndedTask(id: string, result: ToolResult, record: string | undefined): Task {
  const { outcome, error, content, data, summary } = result
  const facts: CallFacts = {
    call: result.callId,
    outcome,
    ...(record !== undefined && { record }),
    ...(error !== undefined && {
      error: { code: error.code, reason: error.reason, message: error.message },
    }),
  }
  const parts = content.map(toPart)
  const artifacts = [
    ...(parts.length === 0 ? [] : [{ artifactId: 'content', parts }]),
    ...(data === undefined ? [] : [{ artifactId: 'data', parts: [{ data, mediaType: json }] }]),
  ]
  return Task.fromJSON({
    id,
    contextId: id,
    status: toStatus(id, toState(outcome), error?.message ?? summary),
    artifacts,
    metadata: { [callExtension]: facts },
  })
}

const json = 'application/json'

function toStatus(taskId: string, state: TaskState, text: string): object {
  const message = {
    messageId: `${taskId}-status`,
    taskId,
    contextId: taskId,
    role: Role[Role.ROLE_AGENT],
    parts: [{ text, mediaType: 'text/plain' }],
  }
  return {
    state: taskStateToJSON(state),
    timestamp: new Date().toISOString(),
    ...(text !== '' && { message }),
  }
}

function toState(outcome: ToolResult['outcome']): TaskState {
  switch (outcome) {
    case 'ok':
      return TaskState.TASK_STATE_COMPLETED
    case 'denied':
      return TaskState.TASK_STATE_REJECTED
    case 'aborted':
      return TaskState.TASK_STATE_CANCELED
    case 'failed':
    case 'unknown':
    case 'waiting':
      return TaskState.TASK_STATE_FAILED
  }
}

/** What only this side can reach, such as an artifact, is named and not sent. */
function toPart(block: ContentBlock): object {
  switch (block.type) {
    case 'text':
      return { text: block.text, mediaType: 'text/plain' }
    case 'json':
      return { data: block.json, mediaType: json }
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType }
    case 'resource':
      if (block.blob !== undefined) return { raw: block.blob, mediaType: block.mimeType ?? '' }
      return { text: block.text ?? block.uri, mediaType: block.mimeType ?? 'text/plain' }
    case 'artifact_ref': {
      const { bytes, mimeType } = block.artifact
      return { text: `[${bytes} bytes of ${mimeType} are kept where the tool ran]`, mediaType: 'text/plain' }
    }
    case 'other':
      return { data: block.block, mediaType: json }
  }
}
