import type { JsonObject } from '../../contract/base/json.ts'
import { multiEdit } from './multi-edit.ts'
import type { Answer, HookMessage, NativeAgent, Verdict } from './native-agent.ts'
import { fieldOf, textOf } from './read-fields.ts'
import { readToolMessage } from './read-tool-message.ts'

/** Claude Code: https://code.claude.com/docs/en/hooks */
export const claudeCode: NativeAgent = {
  name: 'claude-code',
  title: 'Claude Code',
  asks: true,
  read: readClaudeMessage,
  answer: toClaudeAnswer,
  tools: {
    Read: { tool: 'Read', fields: { file_path: ['file_path'] } },
    Write: { tool: 'Write', fields: { file_path: ['file_path'], content: ['content'] } },
    Edit: {
      tool: 'Edit',
      fields: {
        file_path: ['file_path'],
        old_string: ['old_string'],
        new_string: ['new_string'],
        replace_all: ['replace_all'],
      },
    },
    MultiEdit: multiEdit,
    NotebookEdit: {
      tool: 'NotebookEdit',
      fields: {
        notebook_path: ['notebook_path'],
        new_source: ['new_source'],
        cell_id: ['cell_id'],
        cell_type: ['cell_type'],
        edit_mode: ['edit_mode'],
      },
    },
    Bash: { tool: 'Bash', fields: { command: ['command'] } },
    Glob: { tool: 'Glob', fields: { pattern: ['pattern'], path: ['path'] } },
    Grep: {
      tool: 'Grep',
      fields: { pattern: ['pattern'], path: ['path'], glob: ['glob'] },
    },
    LS: { tool: 'LS', fields: { path: ['path'] } },
    WebFetch: { tool: 'WebFetch', fields: { url: ['url'] } },
    WebSearch: { tool: 'WebSearch', fields: { query: ['query'] } },
  },
  harmless: new Set([
    'Agent',
    'AskUserQuestion',
    'BashOutput',
    'EnterPlanMode',
    'ExitPlanMode',
    'Task',
    'TaskCreate',
    'TaskGet',
    'TaskList',
    'TaskOutput',
    'TaskUpdate',
    'TodoRead',
    'TodoWrite',
    'ToolSearch',
  ]),
  escalates: ['dangerouslyDisableSandbox'],
}

/** A message in the form of Claude Code, which Codex has too. */
export function readClaudeMessage(message: JsonObject): HookMessage | string {
  const event = textOf(message, 'hook_event_name')
  if (event === undefined) return 'it has no "hook_event_name"'
  if (event === 'SessionEnd' || event === 'Stop') {
    const session = textOf(message, 'session_id')
    return session === undefined ? 'it has no "session_id"' : { kind: 'over', session }
  }
  const kind = toolEvents.get(event)
  if (kind === undefined) return { kind: 'other' }
  const told = readToolMessage(message)
  if (typeof told === 'string') return told
  if (kind === 'before') return { ...told, kind }
  const response = fieldOf(message, 'tool_response', 'error') ?? null
  return { ...told, kind: 'after', outcome: kind === 'failed' ? 'failed' : 'ok', response }
}

const toolEvents: ReadonlyMap<string, 'before' | 'after' | 'failed'> = new Map([
  ['PreToolUse', 'before'],
  ['PostToolUse', 'after'],
  ['PostToolUseFailure', 'failed'],
])

function toClaudeAnswer({ effect, reason }: Verdict): Answer {
  if (effect === 'none') return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: effect,
      permissionDecisionReason: reason,
    },
  }
}
