import type { Session } from '../../contract/runtime.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { SdkDoor } from '../base/create-sdk-door.ts'

/** What the AI SDK says of a call that it cannot make. */
export interface AiBadCall {
  readonly toolCall: {
    readonly type: 'tool-call'
    readonly toolCallId: string
    readonly toolName: string
    readonly input: string
  }
}

/** The AI SDK's `repairToolCall`. */
export type AiRepair = <Call extends AiBadCall>(bad: Call) => Promise<Call['toolCall'] | null>

/**
 * A call under the name that Handrail's own messages may use becomes the call that it means. What names no tool, or is not JSON, is recorded as the
 * model made it, and the SDK answers it.
 */
export function recordBadCalls(session: Session, door: SdkDoor): AiRepair {
  const isKnown = (name: string): boolean =>
    session.tools({ shared: true, all: true }).some((each) => each.name === name || each.tool === name)
  return async ({ toolCall }) => {
    const { toolCallId: id, toolName, input } = toolCall
    const tool = door.tools.find(toolName)
    if (tool !== undefined && tool.name !== toolName) return { ...toolCall, toolName: tool.name }
    // Nothing that could run is run from here.
    if (tool === undefined ? !isKnown(toolName) : !isJson(input))
      await session.call(tool?.tool ?? toolName, tool === undefined ? {} : input, {
        id,
        origin: 'llm',
        rawName: toolName,
      })
    return null
  }
}

function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}
