import type { JsonObject } from '../../../contract/base/json.ts'
import type { Answer, HookMessage, Verdict } from '../../../compose/agents/native-agent.ts'
import type { HookAgent } from '../base/agent.ts'
import { fieldOf, objectOf, textOf } from '../../../compose/agents/read-fields.ts'
import { readToolMessage } from '../../../compose/agents/read-tool-message.ts'

/** GitHub Copilot CLI: https://docs.github.com/en/copilot/reference/hooks-configuration. Its messages do not name their event. */
export const copilot: HookAgent = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  source: 'https://docs.github.com/en/copilot/reference/hooks-configuration',
  asks: true,
  read: readCopilotMessage,
  answer: toCopilotAnswer,
  tools: {
    bash: { tool: 'Bash', fields: { command: ['command'] } },
    view: { tool: 'Read', fields: { file_path: ['path'] } },
    create: {
      tool: 'Write',
      fields: { file_path: ['path'], content: ['file_text'] },
    },
    edit: {
      tool: 'Edit',
      fields: { file_path: ['path'], old_string: ['old_str'], new_string: ['new_str'] },
    },
    grep: { tool: 'Grep', fields: { pattern: ['pattern'], path: ['path'], glob: ['glob'] } },
    glob: { tool: 'Glob', fields: { pattern: ['pattern'], path: ['path'] } },
    web_fetch: { tool: 'WebFetch', fields: { url: ['url'] } },
    web_search: { tool: 'WebSearch', fields: { query: ['query'] } },
  },
  harmless: new Set(['ask_user', 'list_bash', 'read_bash', 'report_intent', 'task', 'update_todo']),
  settings: {
    user: { path: '.copilot/hooks/handrail.json', variable: 'COPILOT_HOME' },
    project: '.github/hooks/handrail.json',
    base: { version: 1 },
    entries: (command) =>
      Object.fromEntries(
        ['preToolUse', 'postToolUse', 'postToolUseFailure', 'sessionEnd'].map((event) => [
          event,
          { type: 'command', bash: `${command} --event ${event}`, timeoutSec: 30 },
        ]),
      ),
  },
}

function readCopilotMessage(message: JsonObject, told: string | undefined): HookMessage | string {
  const event = told ?? textOf(message, 'hook_event_name')
  if (event === undefined) return 'neither --event nor the message says which event it is of'
  switch (event.slice(0, 1).toLowerCase() + event.slice(1)) {
    case 'sessionEnd': {
      const session = textOf(message, 'sessionId', 'session_id')
      return { kind: 'over', session: session ?? 'unnamed' }
    }
    case 'preToolUse': {
      const read = readToolMessage(message)
      return typeof read === 'string' ? read : { ...read, kind: 'before' }
    }
    case 'postToolUse':
    case 'postToolUseFailure':
      return readAfter(message)
    default:
      return { kind: 'other' }
  }
}

function readAfter(message: JsonObject): HookMessage | string {
  const read = readToolMessage(message)
  if (typeof read === 'string') return read
  const error = fieldOf(message, 'error')
  const response = error ?? fieldOf(message, 'toolResult', 'tool_result', 'tool_response') ?? null
  const kind = textOf(objectOf(response) ?? {}, 'resultType', 'result_type') ?? 'success'
  const outcome = error === undefined && kind === 'success' ? 'ok' : 'failed'
  return { ...read, kind: 'after', outcome, response }
}

function toCopilotAnswer({ effect, reason }: Verdict): Answer {
  return effect === 'none' ? {} : { permissionDecision: effect, permissionDecisionReason: reason }
}
