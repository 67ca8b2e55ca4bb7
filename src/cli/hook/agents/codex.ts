import { readClaudeMessage } from '../../../compose/agents/claude-code.ts'
import type { Answer, Verdict } from '../../../compose/agents/native-agent.ts'
import type { HookAgent } from '../base/agent.ts'
import { applyPatch } from '../base/apply-patch.ts'

/**
 * Codex: https://developers.openai.com/codex/hooks. It refuses `allow` and `ask` as answers of a hook, and goes on with its own rules if a hook says
 * nothing.
 */
export const codex: HookAgent = {
  name: 'codex',
  title: 'Codex',
  source: 'https://developers.openai.com/codex/hooks',
  asks: false,
  read: readClaudeMessage,
  answer: toCodexAnswer,
  tools: {
    Bash: { tool: 'Bash', fields: { command: ['command'] } },
    apply_patch: applyPatch,
    view_image: { tool: 'Read', fields: { file_path: ['path'] } },
  },
  harmless: new Set(['create_goal', 'get_goal', 'request_user_input', 'update_goal', 'update_plan']),
  startsInProject: true,
  settings: {
    user: { path: '.codex/hooks.json', variable: 'CODEX_HOME' },
    project: '.codex/hooks.json',
    entries: (command) => ({
      PreToolUse: { matcher: '.*', hooks: [{ type: 'command', command, timeout: 30 }] },
      PostToolUse: { matcher: '.*', hooks: [{ type: 'command', command, timeout: 30 }] },
      Stop: { hooks: [{ type: 'command', command, timeout: 30 }] },
    }),
    next: 'Codex runs a new hook only after you trusted it: type /hooks there.',
  },
}

function toCodexAnswer({ effect, reason }: Verdict): Answer {
  if (effect !== 'deny') return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }
}
