import { isDeepStrictEqual } from 'node:util'
import type { GivenVerdict, Verdicts } from './create-verdicts.ts'

/** `CanUseTool` of the SDK, as the door answers it. */
export type ClaudeCanUseTool = (
  tool: string,
  input: Record<string, unknown>,
  call: ClaudeCall,
) => Promise<ClaudePermission | null>

/** A `CanUseTool` of the program's own, which the SDK's type of it fits. */
export type ClaudeAsk = (
  tool: string,
  input: Record<string, unknown>,
  call: never,
) => Promise<ClaudePermission | null>

/** What the door reads of what the SDK says of a call. */
export interface ClaudeCall {
  readonly toolUseID: string
  /** An ask rule of the agent's own settings that wants a person asked. */
  readonly matchedAskRule?: object
}

/** `PermissionResult` of the SDK. */
export type ClaudePermission =
  | { behavior: 'allow'; updatedInput?: Record<string, unknown> }
  | { behavior: 'deny'; message: string; interrupt?: boolean }

/**
 * Answers what the agent asks before a call: as the hook of the door decided, which saw the call first. What waits for a person ends the run. A
 * call that no hook has seen is denied.
 */
export function createCanUseTool(verdicts: Verdicts, ask: ClaudeAsk | undefined): ClaudeCanUseTool {
  return async (tool, input, call) => {
    const verdict = verdicts.find(call.toolUseID)
    if (verdict === undefined) return deny(unseen)
    const { effect, reason, waiting } = verdict
    if (waiting === true) {
      await verdict.drop()
      return { ...deny(reason), interrupt: true }
    }
    if (effect === 'deny') return deny(reason)
    const asked = ask === undefined ? unaskedAnswer(verdict, input, call) : await askProgram()
    const answer = isOtherCall(verdict, input, asked) ? deny(changed) : asked
    if (answer?.behavior === 'deny') await verdict.drop()
    return answer

    async function askProgram(): Promise<ClaudePermission | null> {
      // It is the SDK's own, and is handed what the SDK says.
      return ask?.(tool, structuredClone(input), call as never) ?? null
    }
  }
}

function unaskedAnswer(
  { effect }: GivenVerdict,
  input: Record<string, unknown>,
  { matchedAskRule }: ClaudeCall,
): ClaudePermission {
  return effect === 'allow' && matchedAskRule === undefined
    ? { behavior: 'allow', updatedInput: input }
    : deny(unasked)
}

/** Whether the program lets another call run than the one that the policy decided about. What the policy leaves to the agent may be answered in its input. */
function isOtherCall(
  { effect }: GivenVerdict,
  input: Record<string, unknown>,
  answer: ClaudePermission | null,
): boolean {
  if (answer?.behavior !== 'allow' || effect === 'none') return false
  return answer.updatedInput !== undefined && !isDeepStrictEqual(answer.updatedInput, input)
}

const unseen =
  'Handrail did not see this call before, so it is denied. Spread the whole door into the options of query, hooks too.'
const unasked =
  'This needs a person, and this program asks none, so it is denied. The program can: claudeAgent(session, { runtime, canUseTool }).'
const changed =
  'The input was changed after the policy had decided about it, so it is denied. Make the call with the input that is meant.'

function deny(message: string): Extract<ClaudePermission, { behavior: 'deny' }> {
  return { behavior: 'deny', message }
}
