import type { HookAgent } from './base/agent.ts'

/** The agents by name. Each is loaded only when it is asked for. */
export const hookAgents: { readonly [name: string]: () => Promise<HookAgent> } = {
  'claude-code': async () => (await import('./agents/claude-code.ts')).claudeCode,
  codex: async () => (await import('./agents/codex.ts')).codex,
  'gemini-cli': async () => (await import('./agents/gemini-cli.ts')).geminiCli,
  copilot: async () => (await import('./agents/copilot.ts')).copilot,
  cursor: async () => (await import('./agents/cursor.ts')).cursor,
}
