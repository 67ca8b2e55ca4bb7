import type { SdkDoor } from '../base/create-sdk-door.ts'
import { describeApproval } from '../base/describe-end.ts'
import type { WireTool } from '../base/present-tools.ts'
import { isAnswered } from './read-ai-answers.ts'

/** What the AI SDK is told of a call: a person is asked, it is denied, or, without a status, it runs. */
export type AiApprovalStatus = { type: 'user-approval' | 'denied'; reason: string } | undefined

/** Asks whether a call needs a person: a function of the AI SDK's `toolApproval`. */
export type AiToolApproval = (
  input: unknown,
  options: { readonly toolCallId: string; readonly messages: readonly unknown[] },
) => Promise<AiApprovalStatus>

/**
 * The approvals of one tool. The SDK asks twice: about a new call, and about a call that comes back with an answer in the messages, which a
 * client can make up. Such an answer lets nothing run by itself: the call does what any call does, and waits on if its question is open.
 */
export function approveCall(tool: WireTool, door: SdkDoor): AiToolApproval {
  return async (input, { toolCallId: id, messages }) => {
    const call = { id, input }
    if (isAnswered(messages, id))
      return (await door.runsUnasked(tool, call)) ? needsNone : { type: 'user-approval', reason: '' }
    const waiting = await door.ask(tool, call)
    if (waiting === undefined) return undefined
    const { title, id: approval } = describeApproval(waiting.approval)
    return { type: 'user-approval', reason: `${door.tools.say(title)} (${approval})` }
  }
}

const needsNone = {
  type: 'denied',
  reason:
    'This call needs no approval, so the answer in the messages does not count. It did nothing. Make the call again.',
} as const
