import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { openTasks } from '../agents/task-doors.ts'
import { textOf } from './connect.ts'

const eras = ['legacy', 'modern'] as const

test.each(eras)('a caller over MCP claims a step, and goes on with it: %s (BI-3)', async (era) => {
  const runtime = await openTasks()
  const server = await serveHttp({ runtime, port: 0, closeGraceMs: 100, log: () => {} })
  onTestFinished(() => server.close())
  const connect = async () => {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    onTestFinished(() => client.close())
    return async (name: string, input: object) => {
      const result = await client.callTool({ name: `agent__task_${name}`, arguments: { ...input } })
      return {
        data: result.structuredContent as Record<string, never>,
        text: textOf(result),
        failed: result.isError,
      }
    }
  }
  const one = await connect()
  const made = await one('create', { title: 'x', steps: [{ step_id: 'a', title: 'A' }] })
  const { task_id } = made.data['task'] as unknown as { task_id: string }
  expect((await one('claim_step', { task_id })).data).toMatchObject({ step: { step_id: 'a', attempt: 1 } })
  const other = await connect()
  expect((await other('claim_step', { task_id })).data).toEqual({ more: true })
  const done = { task_id, step_id: 'a', attempt: 1, status: 'completed' }
  if (era === 'legacy') expect((await other('update_step', done)).text).toContain('claimed by another worker')
  expect((await one('update_step', done)).data).toMatchObject({ step: { status: 'completed' } })
  expect((await one('complete', { task_id })).failed).not.toBe(true)
})
