// The AI SDK asks a person before a refund. The answer comes back with the messages, after a restart.
import { generateText, isStepCount, type ModelMessage } from 'ai'
import { aiSdk } from 'handrail/ai-sdk'
import { openShop } from '../shop.ts'
import { createModel } from './model.ts'

const [path = 'shop.db'] = process.argv.slice(2)
const stopWhen = isStepCount(5)
const model = createModel()
let messages: ModelMessage[] = [{ role: 'user', content: 'Pay order 12 back.' }]

{
  const runtime = await openShop(path)
  const session = runtime.session({ actor: 'ann' })
  const door = aiSdk(session, { approvals: runtime.approvals })
  const result = await generateText({ model, messages, ...door, stopWhen })
  messages = [...messages, ...result.responseMessages]
  for (const part of result.content)
    if (part.type === 'tool-approval-request') {
      console.log('asked:', part.toolCall.toolName, part.toolCall.input)
      // What a page sends when Bob presses a button.
      const { approvalId } = part
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId, approved: true }],
      })
    }
  await runtime.close()
}

const runtime = await openShop(path)
const session = runtime.session({ actor: 'ann' })
const door = aiSdk(session, { approvals: runtime.approvals })
for (const { state } of await door.answered(messages, { by: 'bob' })) console.log('answered:', state)
const { text } = await generateText({ model, messages, ...door, stopWhen })
console.log('model:', text)
await runtime.close()
