import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeTools, createRuntime, defineTool, type Policy } from 'handrail'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
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

/** The built-in tools, in the pipeline, in a folder of their own. */
async function setUp(policy: Policy = {}) {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'handrail-tasks-')))
  const runtime = await createRuntime({ project, tools: [codeTools(), slow], policy, onError: () => {} })
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 50, log: () => {} })
  atEnd(async () => {
    await server.close()
    await runtime.close()
    await rm(project, { recursive: true })
  })
  const records = () =>
    [...runtime.store.records({ tenant: 'local' })].map(
      ({ text }) => JSON.parse(text) as { kind: string; tool?: string; origin?: string; outcome?: string },
    )
  return { project, runtime, server, records }
}

async function reach(client: RawClient, taskId: string, status: string): Promise<void> {
  await expect.poll(async () => (await client.ask('tasks/get', { taskId })).status).toBe(status)
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

test('a task that is cancelled ends in the pipeline as aborted (MCP-2, SCHED-6)', async () => {
  const { server, records } = await setUp()
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const client = createModern(server, { capabilities })
  const { taskId } = await client.ask('tools/call', { name: 'demo__slow', arguments: {} })
  await client.ask('tasks/cancel', { taskId })
  await reach(client, taskId, 'cancelled')
  await expect.poll(() => records().at(-1)).toMatchObject({ kind: 'end', outcome: 'aborted' })
})

test('a call of a client, and a task of it, happen once for their key, and get only what the policy of now lets through (CALL-4, AUTH-5)', async () => {
  const allow: Policy = { rules: [{ effect: 'allow', tools: ['code.write_file'] }] }
  const { project, runtime, server } = await setUp(allow)
  const client = await openLegacy(server)
  const key = 'handrail/idempotency_key'
  const append = (given: unknown) => ({
    name: 'code__write_file',
    arguments: { path: 'log.txt', content: 'once\n' },
    _meta: { [key]: given },
  })
  const first = await client.ask('tools/call', append('write-the-log'))
  await writeFile(join(project, 'log.txt'), 'changed since\n')
  const { task } = await client.ask('tools/call', { ...append('write-the-log'), task: {} })
  const again = await client.ask('tasks/result', { taskId: task.taskId })
  expect([first.isError, again.content]).toEqual([undefined, first.content])
  expect(await readFile(join(project, 'log.txt'), 'utf8')).toBe('changed since\n')
  for (const given of [17, null, { a: 1 }, '', 'call_0'])
    expect((await client.ask('tools/call', append(given))).content[0]?.text).toContain('invalid_call')
  await runtime.reload({
    policy: { rules: [{ effect: 'deny', resources: ['handrail:file:{project}/log.txt'] }] },
  })
  const late = await client.ask('tools/call', append('write-the-log'))
  expect(late).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('rule_denied') as string }],
  })
})
