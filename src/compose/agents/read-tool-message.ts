import type { JsonObject } from '../../contract/base/json.ts'
import type { ToolMessage } from './native-agent.ts'
import { fieldOf, objectOf, textOf } from './read-fields.ts'

/** The ids of sessions and calls are kept up to so many characters. */
const longestId = 256

/** The longest name of a tool that is read. */
const longestName = 512

/** What all agents say of a call, under their names; a string says what is missing. */
export function readToolMessage(message: JsonObject): ToolMessage | string {
  const session = textOf(message, 'session_id', 'sessionId', 'conversation_id')
  const tool = textOf(message, 'tool_name', 'toolName')
  const input = objectOf(fieldOf(message, 'tool_input', 'toolArgs'))
  if (tool === undefined) return 'it names no tool'
  if (tool.length > longestName) return `the name of its tool has more than ${longestName} characters`
  if (input === undefined) return 'the input of the tool is not a JSON object'
  return {
    session: (session ?? 'unnamed').slice(0, longestId),
    id: textOf(message, 'tool_use_id', 'toolUseId', 'toolCallId')?.slice(0, longestId),
    tool,
    input,
    cwd: textOf(message, 'cwd'),
    server: readServer(message, tool),
  }
}

/** `mcp__<server>__<tool>`, or what the message says of the server. */
function readServer(message: JsonObject, tool: string): ToolMessage['server'] {
  const told = objectOf(fieldOf(message, 'mcp_context'))
  const name = told && textOf(told, 'server_name')
  if (told !== undefined && name !== undefined) return { name, tool: textOf(told, 'tool_name') ?? tool }
  const [, server, own] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? []
  return server === undefined || own === undefined ? undefined : { name: server, tool: own }
}
