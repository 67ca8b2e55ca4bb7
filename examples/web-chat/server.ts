// A chat over HTTP. A refund waits until a person presses a button in the page, also if the server was started anew meanwhile.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { generateText, isStepCount, type ModelMessage } from 'ai'
import { aiSdk } from 'handrail/ai-sdk'
import { createModel } from '../ai-sdk/model.ts'
import { openShop } from '../shop.ts'

const [folder = '.', port = '8080'] = process.argv.slice(2)
// In the place of a login.
const people = new Map([
  ['key-of-ann', 'ann'],
  ['key-of-bob', 'bob'],
])

const runtime = await openShop(join(folder, 'shop.db'))
const door = aiSdk(runtime.session({ actor: 'ann' }), { approvals: runtime.approvals })
const model = createModel()
const file = join(folder, 'chat.json')
const messages = readMessages()

/** The conversation stays on the server: pages hand in words and answers, never messages. */
function readMessages(): ModelMessage[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ModelMessage[]
  } catch {
    return []
  }
}

async function goOn(message: ModelMessage, by: string): Promise<void> {
  messages.push(message)
  await door.answered(messages, { by })
  const result = await generateText({ model, messages, ...door, stopWhen: isStepCount(10) })
  messages.push(...result.responseMessages)
  writeFileSync(file, JSON.stringify(messages))
}

/** The approval requests that no page has answered. */
function openRequests() {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]))
  const answered = parts.flatMap((part) => (part.type === 'tool-approval-response' ? [part.approvalId] : []))
  return parts.flatMap((part) =>
    part.type === 'tool-approval-request' && !answered.includes(part.approvalId) ? [part] : [],
  )
}

function texts(): string[] {
  return messages.flatMap(({ role, content }) => {
    if (typeof content === 'string') return [`${role}: ${content}`]
    return content.flatMap((part) => (part.type === 'text' ? [`${role}: ${part.text}`] : []))
  })
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return JSON.parse(body) as Record<string, unknown>
}

/** What a page asked for, as the status and the body of the answer. */
async function handle(request: IncomingMessage): Promise<[number, unknown]> {
  const by = people.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '')
  if (by === undefined) return [401, { error: 'Who are you?' }]
  if (request.method === 'POST') {
    const { text, approvalId, approved } = await read(request)
    if (typeof text === 'string') await goOn({ role: 'user', content: text }, by)
    const asked = openRequests().find((each) => each.approvalId === approvalId)
    if (asked !== undefined && typeof approved === 'boolean') {
      const response = { type: 'tool-approval-response', approvalId: asked.approvalId, approved } as const
      await goOn({ role: 'tool', content: [response] }, by)
    }
  }
  return [200, { texts: texts(), requests: openRequests() }]
}

const server = createServer((request, response) => {
  if (request.url === '/') {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(readFileSync(join(import.meta.dirname, 'page.html')))
    return
  }
  handle(request).then(
    ([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/`)
})
