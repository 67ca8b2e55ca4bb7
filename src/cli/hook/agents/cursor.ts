import type { JsonObject } from '../../../contract/base/json.ts'
import type { Answer, HookMessage, Verdict } from '../../../compose/agents/native-agent.ts'
import type { HookAgent } from '../base/agent.ts'
import { fieldOf, textOf } from '../../../compose/agents/read-fields.ts'
import { readToolMessage } from '../../../compose/agents/read-tool-message.ts'

const file = ['file_path', 'path', 'target_file']
const folder = ['path', 'target_directory']

/** Cursor: https://cursor.com/docs/agent/hooks. It takes `ask` as an answer before a tool, and does not ask. */
export const cursor: HookAgent = {
  name: 'cursor',
  title: 'Cursor',
  source: 'https://cursor.com/docs/agent/hooks',
  asks: false,
  read: readCursorMessage,
  answer: toCursorAnswer,
  tools: {
    Shell: { tool: 'Bash', fields: { command: ['command'] } },
    Read: { tool: 'Read', fields: { file_path: file } },
    Write: {
      tool: 'Write',
      fields: { file_path: file, content: ['content', 'contents'] },
    },
    StrReplace: {
      tool: 'Edit',
      fields: {
        file_path: file,
        old_string: ['old_string'],
        new_string: ['new_string'],
        replace_all: ['replace_all'],
      },
    },
    Delete: { tool: 'code.delete_path', fields: { path: file } },
    Grep: { tool: 'Grep', fields: { pattern: ['pattern'], path: folder, glob: ['glob'] } },
    Glob: { tool: 'Glob', fields: { pattern: ['pattern', 'glob_pattern'], path: folder } },
    LS: { tool: 'LS', fields: { path: folder } },
    WebFetch: { tool: 'WebFetch', fields: { url: ['url'] } },
    WebSearch: { tool: 'WebSearch', fields: { query: ['query', 'search_term'] } },
  },
  harmless: new Set(['AskQuestion', 'SwitchMode', 'Task', 'TodoWrite']),
  projectVariable: 'CURSOR_PROJECT_DIR',
  settings: {
    user: { path: '.cursor/hooks.json' },
    project: '.cursor/hooks.json',
    base: { version: 1 },
    entries: (command) => ({
      preToolUse: { command, timeout: 30, failClosed: true },
      postToolUse: { command, timeout: 30 },
      postToolUseFailure: { command, timeout: 30 },
      sessionEnd: { command, timeout: 30 },
    }),
  },
}

function readCursorMessage(message: JsonObject): HookMessage | string {
  const event = textOf(message, 'hook_event_name')
  if (event === undefined) return 'it has no "hook_event_name"'
  if (event === 'sessionEnd') {
    const session = textOf(message, 'conversation_id', 'session_id')
    return session === undefined ? 'it has no "conversation_id"' : { kind: 'over', session }
  }
  if (otherQuestions.has(event))
    return `Handrail decides at "preToolUse", not at "${event}": take the hook out there, and run "handrail hook install cursor"`
  const kind = toolEvents[event]
  if (kind === undefined) return { kind: 'other' }
  // One conversation has the same id before and after a tool, whatever else the message says.
  const told = readToolMessage({
    ...message,
    session_id: textOf(message, 'conversation_id', 'session_id') ?? '',
  })
  if (typeof told === 'string') return told
  const read = { ...told, server: told.server ?? readServer(told.tool) }
  if (kind === 'before') return { ...read, kind }
  const response = fieldOf(message, 'tool_output', 'error_message') ?? null
  return { ...read, kind: 'after', outcome: kind === 'failed' ? 'failed' : 'ok', response }
}

const toolEvents: { readonly [event: string]: 'before' | 'after' | 'failed' | undefined } = {
  preToolUse: 'before',
  postToolUse: 'after',
  postToolUseFailure: 'failed',
}

/** Cursor asks at these about some of its calls too. To say nothing there would let them go on. */
const otherQuestions: ReadonlySet<string> = new Set([
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
])

/** `MCP:<tool>`, or `MCP:<server>:<tool>`. A server that is not told goes by the name of the agent. */
function readServer(tool: string): { name: string; tool: string } | undefined {
  const [, first, second] = /^MCP:([^:]+)(?::(.+))?$/s.exec(tool) ?? []
  if (first === undefined) return undefined
  return second === undefined ? { name: 'cursor', tool: first } : { name: first, tool: second }
}

function toCursorAnswer({ effect, reason }: Verdict): Answer {
  if (effect === 'none') return {}
  if (effect === 'allow') return { permission: 'allow' }
  return { permission: 'deny', user_message: reason, agent_message: reason }
}
