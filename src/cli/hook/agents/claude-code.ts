import { claudeCode as native } from '../../../compose/agents/claude-code.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { HookAgent } from '../base/agent.ts'

/** Claude Code, with the settings that hold its hooks. */
export const claudeCode: HookAgent = {
  ...native,
  source: 'https://code.claude.com/docs/en/hooks',
  projectVariable: 'CLAUDE_PROJECT_DIR',
  settings: {
    user: { path: '.claude/settings.json', variable: 'CLAUDE_CONFIG_DIR' },
    project: '.claude/settings.json',
    entries: (command) => ({
      PreToolUse: matched([{ type: 'command', command, timeout: 30, onFailure: 'block' }]),
      PostToolUse: matched([{ type: 'command', command, timeout: 30 }]),
      PostToolUseFailure: matched([{ type: 'command', command, timeout: 30 }]),
      SessionEnd: { hooks: [{ type: 'command', command, timeout: 30 }] },
    }),
  },
}

function matched(hooks: JsonObject[]): JsonObject {
  return { matcher: '*', hooks }
}
