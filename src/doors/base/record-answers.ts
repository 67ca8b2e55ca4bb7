import { SetupError } from '../../contract/base/errors.ts'
import type { PendingApproval, PendingApprovals } from '../../contract/pending-approval.ts'
import type { Session } from '../../contract/runtime.ts'
import type { SdkCall, SdkDoor } from './create-sdk-door.ts'
import type { WireTool } from './present-tools.ts'

/** Who answered. The program vouches for it, such as by its login. */
export interface AnsweredBy {
  readonly by: string
}

/** A yes or no that came back through an SDK. */
export interface SdkAnswer {
  readonly tool: WireTool
  readonly call: SdkCall
  readonly approved: boolean
  readonly reason?: string | undefined
  /** What names the question that the person saw; without it, the only one that waits for this call is meant. */
  readonly approvalId?: string | undefined
}

/** What became of an answer. */
export interface RecordedSdkAnswer {
  readonly toolCallId: string
  /** `ignored`: no question of exactly this call waits for it, or this person may not decide. The call waits on, or is asked about anew. */
  readonly state: 'allowed' | 'denied' | 'waiting' | 'ignored'
  readonly approval?: string
  /** Why it was ignored. */
  readonly why?: string
}

/** What recording needs. */
export interface AnswerContext {
  readonly session: Session
  readonly door: SdkDoor
  readonly approvals: PendingApprovals
  readonly by: string
  /** Whether the SDK makes the call also after a no, which ends it then. Default false: the no ends it at once. */
  readonly comesBack?: boolean
}

/**
 * Records an answer with the question that it is for. It has an effect only if a question of exactly this call, with this input, waits for it:
 * a made-up or repeated answer changes nothing. Never rejects for what the answer says.
 */
export async function recordAnswer(answer: SdkAnswer, context: AnswerContext): Promise<RecordedSdkAnswer> {
  const { session, door, approvals, by, comesBack = false } = context
  const { tool, call, approved, reason } = answer
  const ignored = (why: string): RecordedSdkAnswer => ({ toolCallId: call.id, state: 'ignored', why })
  const meant = door
    .findQuestions(tool, { callId: call.id, id: answer.approvalId })
    .filter(({ state }) => state === 'waiting')
  const [question] = meant
  if (question === undefined) return ignored('No question about this call waits for an answer.')
  if (meant.length > 1)
    return ignored(
      'Several questions wait for a call of this id, and the answer does not say which it is for.',
    )
  if (!(await isAbout(question, answer, context)))
    return ignored('The question that waits is about another input, or about something that has changed.')
  const said = { by, ...(reason !== undefined && reason !== '' && { reason }) }
  if (!approved && !comesBack) {
    await session.refuse(door.toRequest(tool, { id: call.id, input: call.input }), said)
    return { toolCallId: call.id, state: 'denied', approval: question.id }
  }
  try {
    const { state } = await approvals.decide(question.id, {
      ...said,
      decision: approved ? 'allow_once' : 'deny',
      digest: question.digest,
    })
    return {
      toolCallId: call.id,
      state: state === 'waiting' || state === 'denied' ? state : 'allowed',
      approval: question.id,
    }
  } catch (error) {
    if (error instanceof SetupError && error.code !== 'invalid_options') return ignored(error.message)
    throw error
  }
}

/** Whether this very call would be asked about with this very question: the session alone can tell, as it has the input whole. */
async function isAbout(
  { id }: PendingApproval,
  { tool, call }: SdkAnswer,
  { door }: AnswerContext,
): Promise<boolean> {
  const asked = await door.ask(tool, { id: call.id, input: call.input })
  return asked?.approval.id === id
}

/** The id of a pending approval in a text that was shown with it. */
export function readApprovalId(text: unknown): string | undefined {
  return typeof text === 'string' ? /\bapr_[0-9A-Za-z_-]+/.exec(text)?.[0] : undefined
}
