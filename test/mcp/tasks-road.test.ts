import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeTools, createRuntime, defineTool } from 'handrail'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/server/serve-http.ts'
import { atEnd } from '../support/at-end.ts'
import { createModern, messagesOf, openLegacy, type Message, type RawClient } from './raw-client.ts'

const slow = defineTool({
  name: 'demo.slow',
  description: 'Runs until it is aborted.',
  permission: 'readonly',
  run: async ({ signal }) => {
    await delay(60_000, undefined, { signal })
    return 'never'
  },
})

/** The built-in tools, on the road, in a folder of their own. */
async function setUp() {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'handrail-tasks-')))
  const runtime = await createRuntime({ project, tools: [codeTools(), slow], onFault: () => {} })
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 50, log: () => {} })
  atEnd(async () => {
    await server.close()
    await runtime.close()
    await rm(project, { recursive: true })
  })
  const records = () =>
    [...runtime.store.records({})].map(
      ({ text }) => JSON.parse(text) as { kind: string; tool?: string; origin?: string; outcome?: string },
    )
  return { project, server, records }
}

async function reach(client: RawClient, taskId: string, status: string): Promise<void> {
  await expect
    .poll(async () => (await client.ask('tasks/get', { taskId })).status, { timeout: 20_000 })
    .toBe(status)
}

test('a task leaves the evidence that its call leaves without one (MCP-2, EVID-1)', async () => {
  const { project, server, records } = await setUp()
  const client = await openLegacy(server)
  await writeFile(join(project, 'a.txt'), 'one\n')
  const read = { name: 'code__read_file', arguments: { path: 'a.txt' } }
  const plain = await client.ask('tools/call', read)
  const { task } = await client.ask('tools/call', { ...read, task: {} })
  const result = await client.ask('tasks/result', { taskId: task.taskId })
  expect(result.content).toEqual(plain.content)
  const facts = records().map(({ kind, tool, origin, outcome }) => [kind, tool, origin, outcome])
  expect(facts).toHaveLength(4)
  expect(facts.slice(2)).toEqual(facts.slice(0, 2))
})

test('a task writes when the person has said yes, and not before (MCP-2, PERM-3)', async () => {
  const { project, server } = await setUp()
  const client = await openLegacy(server, { capabilities: { elicitation: { form: {} } } })
  const file = join(project, 'new.txt')
  const write = { name: 'code__write_file', arguments: { path: 'new.txt', content: 'written\n' } }
  const { task } = await client.ask('tools/call', { ...write, task: {} })
  await reach(client, task.taskId, 'input_required')
  const stream = messagesOf(await client.send('tasks/result', { taskId: task.taskId }))
  const { value: question } = (await stream.next()) as { value: Message }
  expect(question.params?.['message']).toContain('+written')
  await expect(readFile(file)).rejects.toThrow('ENOENT')
  await client.answer(question.id, { action: 'accept', content: { decision: 'allow_once' } })
  const { value: end } = (await stream.next()) as { value: Message }
  expect(end.result?.isError).toBeUndefined()
  expect(await readFile(file, 'utf8')).toBe('written\n')
})

test('a task that is cancelled ends on the road as aborted (MCP-2, SCHED-6)', async () => {
  const { server, records } = await setUp()
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const client = createModern(server, { capabilities })
  const { taskId } = await client.ask('tools/call', { name: 'demo__slow', arguments: {} })
  await client.ask('tasks/cancel', { taskId })
  await reach(client, taskId, 'cancelled')
  await expect
    .poll(() => records().at(-1), { timeout: 20_000 })
    .toMatchObject({ kind: 'end', outcome: 'aborted' })
})
