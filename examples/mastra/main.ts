// An agent of Mastra suspends its run before a refund, and goes on with what a person said.
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import type { SuspendedCalls } from 'handrail/approvals'
import { mastra } from 'handrail/mastra'
import { createModel } from '../ai-sdk/model.ts'
import { openShop } from '../shop.ts'

const [path = 'shop.db'] = process.argv.slice(2)
const runtime = await openShop(path)
const session = runtime.session({ actor: 'ann' })
const door = mastra(session, { createTool, approvals: runtime.approvals })
const instructions = 'You work in a shop.'
const agent = new Agent({ id: 'shop', name: 'Shop', instructions, model: createModel(), tools: door.tools })
// Keeps suspended runs; one in a database keeps them over restarts.
const app = new Mastra({ agents: { shop: agent }, storage: new InMemoryStore(), logger: false })

const shop = app.getAgent('shop')
const { runId, suspendPayload } = await shop.generate('Pay order 12 back.')
const { approvals }: SuspendedCalls = suspendPayload.suspendPayload
const answers: { [id: string]: { decision: 'allow_once'; by: string } } = {}
for (const { id, title } of approvals) {
  console.log('asked:', title)
  // What a page sends when Bob presses a button.
  answers[id] = { decision: 'allow_once', by: 'bob' }
}
const { text } = await shop.resumeGenerate(answers, { runId })
console.log('model:', text)
await runtime.close()
