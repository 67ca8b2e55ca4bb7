import type { JsonObject } from '../../../contract/base/json.ts'
import type { Answer, HookMessage, Verdict } from '../../../compose/agents/native-agent.ts'
import type { HookAgent } from '../base/agent.ts'
import { fieldOf, objectOf, textOf } from '../../../compose/agents/read-fields.ts'
import { readToolMessage } from '../../../compose/agents/read-tool-message.ts'

const file = ['file_path', 'absolute_path']
const folder = ['dir_path', 'path']

/** Gemini CLI: https://geminicli.com/docs/hooks/reference */
export const geminiCli: HookAgent = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  source: 'https://geminicli.com/docs/hooks/reference',
  asks: true,
  read: readGeminiMessage,
  answer: toGeminiAnswer,
  tools: {
    read_file: { tool: 'Read', fields: { file_path: file } },
    write_file: { tool: 'Write', fields: { file_path: file, content: ['content'] } },
    replace: {
      tool: 'Edit',
      fields: {
        file_path: file,
        old_string: ['old_string'],
        new_string: ['new_string'],
        replace_all: ['allow_multiple'],
      },
    },
    list_directory: { tool: 'LS', fields: { path: folder } },
    glob: { tool: 'Glob', fields: { pattern: ['pattern'], path: folder } },
    grep_search: { tool: 'Grep', fields: { pattern: ['pattern'], path: folder } },
    search_file_content: { tool: 'Grep', fields: { pattern: ['pattern'], path: folder } },
    run_shell_command: { tool: 'Bash', fields: { command: ['command'] } },
    web_fetch: { tool: 'WebFetch', fields: { url: ['url'] } },
    google_web_search: { tool: 'WebSearch', fields: { query: ['query'] } },
  },
  harmless: new Set([
    'ask_user',
    'complete_task',
    'enter_plan_mode',
    'exit_plan_mode',
    'get_internal_docs',
    'invoke_agent',
    'update_topic',
    'write_todos',
  ]),
  projectVariable: 'GEMINI_PROJECT_DIR',
  settings: {
    user: { path: '.gemini/settings.json' },
    project: '.gemini/settings.json',
    entries: (command) => {
      const hooks = [{ name: 'handrail', type: 'command', command, timeout: 30_000 }]
      return {
        BeforeTool: { matcher: '.*', hooks },
        AfterTool: { matcher: '.*', hooks },
        SessionEnd: { hooks },
      }
    },
  },
}

function readGeminiMessage(message: JsonObject): HookMessage | string {
  const event = textOf(message, 'hook_event_name')
  if (event === undefined) return 'it has no "hook_event_name"'
  if (event === 'SessionEnd') {
    const session = textOf(message, 'session_id')
    return session === undefined ? 'it has no "session_id"' : { kind: 'over', session }
  }
  if (event !== 'BeforeTool' && event !== 'AfterTool') return { kind: 'other' }
  const told = readToolMessage(message)
  if (typeof told === 'string') return told
  if (event === 'BeforeTool') return { ...told, kind: 'before' }
  const response = fieldOf(message, 'tool_response') ?? null
  const failed = fieldOf(objectOf(response) ?? {}, 'error') !== undefined
  return { ...told, kind: 'after', outcome: failed ? 'failed' : 'ok', response }
}

function toGeminiAnswer({ effect, reason }: Verdict): Answer {
  return effect === 'none' ? {} : { decision: effect, reason }
}
