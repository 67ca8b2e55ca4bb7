import type { Session } from '../../contract/runtime.ts'
import { createSdkDoor, type SdkDoor } from '../base/create-sdk-door.ts'
import { checkDoorOptions, needApprovals, type SdkDoorOptions } from '../base/door-options.ts'
import { recordAnswer, type AnsweredBy, type RecordedSdkAnswer } from '../base/record-answers.ts'
import { approveCall, type AiToolApproval } from './approve-call.ts'
import { readAiAnswers } from './read-ai-answers.ts'
import { recordBadCalls, type AiRepair } from './record-bad-calls.ts'
import { toAiTool, type AiSdkTool } from './to-ai-tool.ts'

/** The tools of a session as `generateText`, `streamText` and `ToolLoopAgent` of the AI SDK take them. */
export interface AiSdkDoor {
  readonly tools: { readonly [name: string]: AiSdkTool }
  /** Asks Handrail whether a call needs a person: a call that does becomes the approval request of the SDK. */
  readonly toolApproval: { readonly [name: string]: AiToolApproval }
  /** Records calls that the SDK answers by itself: of tools that there are not, or with broken JSON. */
  readonly repairToolCall: AiRepair
  /**
   * Records the approvals and refusals in the last of these messages (`ModelMessage` or `UIMessage`), before they are handed to the SDK. An
   * approval counts once, and only for a call that Handrail asked about; all others change nothing. Returns what became of each. Throws a
   * SetupError without `approvals` in the options of the door.
   */
  answered(messages: readonly unknown[], who: AnsweredBy): Promise<readonly RecordedSdkAnswer[]>
}

/**
 * The tools of a session for the AI SDK (`ai` 7): spread it into a call of the SDK. Calls that the SDK makes side by side are one step of the
 * session. Nothing is thrown for what a model did: a failed call is an `error-text` to the model.
 *
 * @example
 * const door = aiSdk(session, { approvals: runtime.approvals })
 * await door.answered(messages, { by: user.id })
 * const result = streamText({ model, messages, ...door, stopWhen: isStepCount(20) })
 */
export function aiSdk(session: Session, options: SdkDoorOptions = {}): AiSdkDoor {
  checkDoorOptions('aiSdk', options)
  const door: SdkDoor = createSdkDoor(session, options)
  const { list } = door.tools
  const opened = {
    tools: Object.fromEntries(list.map((tool) => [tool.name, toAiTool(tool, door)])),
    toolApproval: Object.fromEntries(list.map((tool) => [tool.name, approveCall(tool, door)])),
    repairToolCall: recordBadCalls(session, door),
  }
  // Not enumerable, so that spreading the door into a call of the SDK leaves it out.
  return Object.defineProperty(opened as AiSdkDoor, 'answered', {
    value: async (messages: readonly unknown[], { by }: AnsweredBy) => {
      const approvals = needApprovals('aiSdk', options)
      const recorded: RecordedSdkAnswer[] = []
      for (const answer of readAiAnswers(messages, door.tools))
        recorded.push(await recordAnswer(answer, { session, door, approvals, by }))
      return recorded
    },
  })
}
