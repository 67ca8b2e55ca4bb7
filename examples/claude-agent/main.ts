// An agent of the Claude Agent SDK is interrupted before a refund, and goes on after a restart, once a person said yes.
import { query } from '@anthropic-ai/claude-agent-sdk'
import { claudeAgent } from 'handrail/claude-agent'
import { openShop } from '../shop.ts'
import { startModel } from './model.ts'

const [path = 'shop.db'] = process.argv.slice(2)
const model = await startModel()
let more: { env: typeof model.env; resume?: string } = { env: model.env }

for (const prompt of ['Pay order 12 back.', 'Go on.']) {
  const runtime = await openShop(path)
  const session = runtime.session({ actor: 'ann' })
  const door = claudeAgent(session, { runtime })
  for await (const message of query({ prompt, options: { ...door, ...more } })) {
    if (message.type === 'assistant')
      for (const block of message.message.content)
        if (block.type === 'text') console.log('model:', block.text)
    if (message.type !== 'result') continue
    more = { ...more, resume: message.session_id }
    break
  }
  for (const { id, request } of runtime.approvals.list()) {
    console.log('asked:', request.preview.title)
    // What Bob does elsewhere, such as with `handrail approvals allow`.
    await runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  }
  await runtime.close()
}
model.close()
