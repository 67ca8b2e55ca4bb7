import { expect, test } from 'vitest'
import { startScripted } from '../support/scripted-server.ts'
import { fixtureTool, openUpstreams } from '../support/upstreams.ts'

test('a tool that runs as a task is called once, also where its server knows the session no more when it is asked for the result (MCP-1)', async () => {
  const server = await startScripted(({ method }) => {
    if (method === 'tools/list')
      return { tools: [fixtureTool('act', { execution: { taskSupport: 'required' } })] }
    if (method === 'tools/call') return { task: { taskId: 'task-1', status: 'working' } }
    return method === 'tasks/result' ? { status: 404 } : undefined
  })
  const runtime = await openUpstreams({ it: { url: server.url } })
  const { error } = await runtime.session().call('mcp.it.act')
  expect(error).toMatchObject({ reason: 'connection_lost' })
  expect(error?.message).toContain('Whether it was done is not known')
  expect(server.calls()).toHaveLength(1)
  // The connection is of no use any more, and the next call has another one.
  await runtime.session().call('mcp.it.act', { other: true })
  expect(server.heard.filter(({ method }) => method === 'initialize').length).toBeGreaterThan(1)
})
