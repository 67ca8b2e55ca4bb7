import { randomUUID } from 'node:crypto'
import type { ClaudeAgentDoor } from 'handrail/claude-agent'
import { openClaude } from '../claude-agent.ts'

// Stands for `@anthropic-ai/claude-agent-sdk` 0.3.330, as far as an example uses it: it asks a model over HTTP, and makes its calls through the door.

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }

interface Message {
  role: 'user' | 'assistant'
  content: string | object[]
}

/** What is kept of sessions, by their ids. */
const sessions = new Map<string, Message[]>()

interface Query {
  prompt: string
  options: ClaudeAgentDoor & { resume?: string; env: { readonly [name: string]: string | undefined } }
}

type Told =
  | { type: 'assistant'; session_id: string; message: { content: Block[] } }
  | { type: 'result'; session_id: string; subtype: 'success' | 'error_during_execution' }

/** One run of the agent. */
export async function* query({ prompt, options }: Query): AsyncGenerator<Told> {
  const { resume, env, ...door } = options
  const session_id = resume ?? randomUUID()
  const messages = sessions.get(session_id) ?? []
  sessions.set(session_id, messages)
  messages.push({ role: 'user', content: prompt })
  const claude = await openClaude(door, { cwd: door.cwd, session: session_id })
  for (;;) {
    const content = await askModel(messages, env)
    messages.push({ role: 'assistant', content })
    yield { type: 'assistant', session_id, message: { content } }
    const results: object[] = []
    for (const block of content) {
      if (block.type !== 'tool_use') continue
      const { decided, text, reason, isError } = await claude.call(block.name, block.input)
      const ran = decided === 'ran'
      const told = { content: ran ? text : reason, is_error: !ran || isError }
      results.push({ type: 'tool_result', tool_use_id: block.id, ...told })
      if (typeof decided === 'string' || decided.behavior !== 'deny' || decided.interrupt !== true) continue
      messages.push({ role: 'user', content: results })
      yield { type: 'result', session_id, subtype: 'error_during_execution' }
      throw new Error('Claude Code returned an error result')
    }
    if (results.length === 0) break
    messages.push({ role: 'user', content: results })
  }
  yield { type: 'result', session_id, subtype: 'success' }
}

async function askModel(messages: readonly Message[], env: Query['options']['env']): Promise<Block[]> {
  const body = JSON.stringify({ model: 'none', messages, tools: [{ name: 'any' }] })
  const response = await fetch(`${env['ANTHROPIC_BASE_URL']}/v1/messages`, { method: 'POST', body })
  const { content } = (await response.json()) as { content: Block[] }
  return content
}
