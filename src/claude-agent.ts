// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export {
  claudeAgent,
  type ClaudeAgentDoor,
  type ClaudeAgentOptions,
  type ClaudeHookMatcher,
  type ClaudeToolServer,
} from './compose/claude-agent/claude-agent.ts'
export type {
  ClaudeAsk,
  ClaudeCall,
  ClaudeCanUseTool,
  ClaudePermission,
} from './compose/claude-agent/create-can-use-tool.ts'
export type { ClaudeHook, ClaudeHookAnswer } from './compose/claude-agent/create-hook.ts'
