import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import type { ClaudeAgentDoor, ClaudePermission } from 'handrail/claude-agent'

/** What became of a call. */
export interface ClaudeEnd {
  /** `ran` without what the program was asked; `denied` by the hook; else what `canUseTool` said. */
  readonly decided: 'ran' | 'denied' | ClaudePermission
  readonly reason: string
  /** What the model reads of a tool of the server. */
  readonly text: string
  readonly isError: boolean
}

/** Stands for `query` of the Claude Agent SDK: makes the calls of a model in the order and form of release 0.3.330, as far as a door sees it. */
export async function openClaude(
  door: ClaudeAgentDoor,
  { cwd, session = 'claude-1' }: { cwd: string; session?: string },
) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  // The SDK calls this, and nothing else.
  await (door.mcpServers.handrail.instance as { connect(transport: unknown): Promise<void> }).connect(far)
  const client = new Client({ name: 'claude-code', version: '2.1.197' })
  await client.connect(near)
  const { signal } = new AbortController()
  let made = 0

  async function tell(event: keyof ClaudeAgentDoor['hooks'], more: object, id?: string) {
    const [matcher] = door.hooks[event]
    const [hook] = matcher?.hooks ?? []
    const base = { session_id: session, cwd, permission_mode: 'default' }
    return hook?.({ ...base, hook_event_name: event, ...more }, id, { signal })
  }

  async function call(tool: string, input: Record<string, unknown>, about: object = {}): Promise<ClaudeEnd> {
    const id = `toolu_${session}_${++made}`
    const own = tool.startsWith('mcp__handrail__')
    const server = own ? { mcp_server: { name: 'handrail', source: 'sdk' } } : {}
    const what = { tool_name: tool, tool_input: input, tool_use_id: id, ...server }
    const answer = await tell('PreToolUse', what, id)
    const { permissionDecision: effect, permissionDecisionReason: reason = '' } =
      answer?.hookSpecificOutput ?? {}
    const end = { reason, text: '', isError: false }
    if (effect === 'deny') return { ...end, decided: 'denied' }
    const permission =
      effect === 'allow' && !('asks' in about)
        ? undefined
        : await door.canUseTool(tool, input, { toolUseID: id, signal, requestId: id, ...about } as never)
    if (permission?.behavior === 'deny') return { ...end, decided: permission }
    const decided = permission ?? 'ran'
    if (own) {
      const _meta = { 'claudecode/toolUseId': id }
      const result = await client.callTool({
        name: tool.slice('mcp__handrail__'.length),
        arguments: input,
        _meta,
      })
      const [first] = result.content
      const text = first?.type === 'text' ? first.text : ''
      await tell('PostToolUse', { ...what, tool_response: result.content }, id)
      return { decided, reason, text, isError: result.isError === true }
    }
    await tell('PostToolUse', { ...what, tool_response: { stdout: 'it ran' } }, id)
    return { ...end, decided }
  }
  return { client, call, tell }
}
