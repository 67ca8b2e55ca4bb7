import { readApprovalId, type SdkAnswer } from '../base/record-answers.ts'
import { listObjects } from '../base/list-objects.ts'
import type { WireTools } from '../base/present-tools.ts'

type Part = Readonly<Record<string, unknown>>

/** What one answer says, in whatever form of message it came. */
interface Said {
  readonly name: unknown
  readonly callId: unknown
  readonly input: unknown
  readonly approved: unknown
  readonly reason: unknown
  /** Shown with the request: it names the question. */
  readonly asked: unknown
}

/** The answers in the last of these messages, which is where the SDK looks for them. Messages come from clients: what has another form is left out. */
export function readAiAnswers(messages: readonly unknown[], tools: WireTools): SdkAnswer[] {
  const all = listObjects(messages)
  const last = all.at(-1)
  const said = last?.['role'] === 'tool' ? readModelParts(all, last) : readUiParts(last)
  const seen = new Set<string>()
  return said.flatMap(({ name, callId, input, approved, reason, asked }) => {
    const tool = typeof name === 'string' ? tools.find(name) : undefined
    if (tool === undefined || typeof callId !== 'string' || typeof approved !== 'boolean') return []
    // Like the SDK: the first answer to a call counts.
    if (seen.has(callId)) return []
    seen.add(callId)
    return {
      tool,
      call: { id: callId, input },
      approved,
      ...(typeof reason === 'string' && { reason }),
      approvalId: readApprovalId(asked),
    }
  })
}

/** Messages for models (`ModelMessage`): the answer, its request and its call are parts of their own. */
function readModelParts(messages: readonly Part[], last: Part): Said[] {
  const parts = messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ content }) => listObjects(content))
  const requests = new Map(
    parts.filter(({ type }) => type === 'tool-approval-request').map((part) => [part['approvalId'], part]),
  )
  const calls = new Map(
    parts.filter(({ type }) => type === 'tool-call').map((part) => [part['toolCallId'], part]),
  )
  return listObjects(last['content'])
    .filter(({ type }) => type === 'tool-approval-response')
    .flatMap(({ approvalId, approved, reason }) => {
      const request = requests.get(approvalId)
      const call = calls.get(request?.['toolCallId'])
      if (request === undefined || call === undefined) return []
      const { toolName: name, toolCallId: callId, input } = call
      return { name, callId, input, approved, reason, asked: request['reason'] }
    })
}

/** Messages of a page (`UIMessage`): the call carries its answer. */
function readUiParts(last: Part | undefined): Said[] {
  return listObjects(last?.['parts'])
    .filter(({ state }) => state === 'approval-responded')
    .flatMap(({ type, toolName, toolCallId: callId, input, approval }) => {
      const [{ approved, reason, requestReason } = {}] = listObjects([approval])
      const name = type === 'dynamic-tool' ? toolName : String(type).replace(/^tool-/, '')
      return { name, callId, input, approved, reason, asked: requestReason }
    })
}

/** Whether an answer to the approval request of this call stands in these messages. */
export function isAnswered(messages: unknown, callId: string): boolean {
  const parts = listObjects(messages).flatMap(({ content }) => listObjects(content))
  const ids = parts
    .filter(({ type, toolCallId }) => type === 'tool-approval-request' && toolCallId === callId)
    .map(({ approvalId }) => approvalId)
  return parts.some(({ type, approvalId }) => type === 'tool-approval-response' && ids.includes(approvalId))
}
