import { createRuntime } from 'handrail'
import { defineLongTool } from 'handrail/tools'
import { expect, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { atEnd } from '../support/at-end.ts'
import { makeFolder } from '../support/project.ts'
import { createModern, openLegacy } from './raw-client.ts'

async function setUp() {
  const works = { done: false, stopped: 0 }
  const work = defineLongTool({
    name: 'ci.build',
    description: 'Builds.',
    permission: 'readonly',
    output: {
      type: 'object',
      properties: { log: { type: 'string' } },
      required: ['log'],
      additionalProperties: false,
    },
    everyMs: 5,
    start: () => ({}),
    poll: () =>
      works.done
        ? { status: 'completed', result: { log: 'built' } }
        : { status: 'running', progress: 'builds' },
    stop: () => void works.stopped++,
  })
  const runtime = await createRuntime({
    project: makeFolder(),
    tools: [work],
    store: 'memory',
    onError: () => {},
  })
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 50, log: () => {} })
  atEnd(async () => {
    await server.close()
    await runtime.close()
  })
  return { works, server }
}

test('a task of a long tool is over when its work is, and has its result (NEXT-2, MCP-2)', async () => {
  const { works, server } = await setUp()
  const legacy = await openLegacy(server)
  const { task } = await legacy.ask('tools/call', { name: 'ci__build', arguments: {}, task: {} })
  await expect
    .poll(async () => (await legacy.ask('tasks/get', { taskId: task.taskId })).statusMessage)
    .toBe('builds')
  expect((await legacy.ask('tasks/get', { taskId: task.taskId })).status).toBe('working')
  const modern = createModern(server, {
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  })
  const { taskId } = await modern.ask('tools/call', { name: 'ci__build', arguments: {} })
  works.done = true
  expect((await legacy.ask('tasks/result', { taskId: task.taskId })).structuredContent).toEqual({
    log: 'built',
  })
  await expect
    .poll(async () => (await modern.ask('tasks/get', { taskId })).result?.structuredContent)
    .toEqual({ log: 'built' })
})

test('a task of a long tool that is cancelled ends its work; a client without tasks gets the job (NEXT-2, MCP-2)', async () => {
  const { works, server } = await setUp()
  const modern = createModern(server, {
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  })
  const { taskId } = await modern.ask('tools/call', { name: 'ci__build', arguments: {} })
  await modern.ask('tasks/cancel', { taskId })
  await expect.poll(() => works.stopped).toBe(1)
  const legacy = await openLegacy(server)
  const plain = await legacy.ask('tools/call', { name: 'ci__build', arguments: {} })
  expect(plain.structuredContent).toMatchObject({ status: 'running' })
})
