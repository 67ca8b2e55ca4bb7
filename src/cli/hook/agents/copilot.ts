import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { Answer, HookMessage, MappedCall, Verdict } from '../../../compose/agents/native-agent.ts'
import type { HookAgent } from '../base/agent.ts'
import { applyPatch } from '../base/apply-patch.ts'
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
    apply_patch: applyPatch,
    grep: lookIn('Grep'),
    rg: lookIn('Grep'),
    glob: lookIn('Glob'),
    web_fetch: { tool: 'WebFetch', fields: { url: ['url'] } },
    web_search: { tool: 'WebSearch', fields: { query: ['query'] } },
  },
  harmless: new Set([
    'ask_user',
    'fetch_copilot_cli_documentation',
    'list_agents',
    'list_bash',
    'read_agent',
    'read_bash',
    'report_intent',
    'stop_bash',
    'task',
    'update_todo',
    'write_agent',
  ]),
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

/** A search, in each of the folders that it names; of a release that takes one `path`, there too. Undefined if they are no texts. */
function lookIn(tool: 'Grep' | 'Glob') {
  return (input: JsonObject): readonly MappedCall[] | undefined => {
    const { pattern, glob, path = [], paths = [] } = input
    const folders = [path, paths].flat()
    if (typeof pattern !== 'string' || !folders.every((folder) => typeof folder === 'string'))
      return undefined
    // What is not named is searched from the folder that the agent is in.
    if ([paths].flat().length === 0) folders.push('.')
    return folders.map((folder) => {
      const look: JsonObject = { pattern, path: folder }
      if (tool === 'Grep' && typeof glob === 'string') look['glob'] = glob
      return { tool, input: look }
    })
  }
}

/** Its tool for patches takes a text, which comes as the JSON of one. */
function withTextInput(message: JsonObject): JsonObject {
  const { toolArgs } = message
  if (typeof toolArgs !== 'string' || !toolArgs.startsWith('"')) return message
  try {
    return { ...message, toolArgs: { input: JSON.parse(toolArgs) as Json } }
  } catch {
    return message
  }
}

function readCopilotMessage(said: JsonObject, told: string | undefined): HookMessage | string {
  const message = withTextInput(said)
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
