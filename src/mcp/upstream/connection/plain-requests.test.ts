import * as sdk from '@modelcontextprotocol/client'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createPlainRequests } from './plain-requests.ts'

/** A request that was sent, and what takes the answers of its server. */
function send({ signal }: { signal?: AbortSignal } = {}) {
  const sent: JSONRPCMessage[] = []
  const heard: unknown[] = []
  const plain = createPlainRequests(sdk, async (message) => void sent.push(message))
  const result = plain.request(
    { method: 'tools/call', params: { name: 'a' } },
    { onprogress: (progress) => heard.push(progress), ...(signal && { signal }) },
  )
  const [first] = sent
  const id = first !== undefined && 'id' in first ? Number(first.id) : Number.NaN
  return { plain, result, sent, heard, id }
}

test('a result comes as its server wrote it, also with more than most have (MCP-1)', async () => {
  const results = [
    { content: [], other: 1 },
    { content: [], _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1' } } },
  ]
  for (const written of results) {
    const { plain, result, id } = send()
    expect(plain.take({ jsonrpc: '2.0', id, result: written })).toBe(true)
    expect(await result).toEqual(written)
  }
  const { plain, result, id } = send()
  expect(
    plain.take({ jsonrpc: '2.0', id: String(id), result: { content: [], resultType: 'input_required' } }),
  ).toBe(true)
  expect(await result).toEqual({ content: [] })
})

test('an error is that of the protocol, whatever it has beside its message (MCP-1)', async () => {
  const { plain, result, id } = send()
  const error = { code: -32_602, message: 'wrong', data: { at: 1 }, name: 'McpError' }
  expect(plain.take({ jsonrpc: '2.0', id, error })).toBe(true)
  await expect(result).rejects.toMatchObject({ code: -32_602, data: { at: 1 } })
})

test('progress goes to the request that it is of, and to no other (MCP-1)', async () => {
  const { plain, result, heard, sent, id } = send()
  expect(sent).toMatchObject([{ params: { name: 'a', _meta: { progressToken: id } } }])
  const report = (progressToken: number | string) =>
    plain.take({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 2, message: 'half', _meta: { mine: true } },
    })
  expect(report(id)).toBe(true)
  expect(report(id + 1)).toBe(false)
  expect(heard).toMatchObject([{ progress: 1, total: 2, message: 'half' }])
  plain.take({ jsonrpc: '2.0', id, result: {} })
  await result
  expect(report(id)).toBe(false)
})

test('a request that is aborted tells its server, and what comes after is for the SDK (MCP-1, SCHED-6)', async () => {
  const stop = new AbortController()
  const { plain, result, sent, id } = send({ signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(result).rejects.toThrow('enough')
  const params = { requestId: id, reason: 'Error: enough' }
  expect(sent[1]).toEqual({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  expect(plain.take({ jsonrpc: '2.0', id, result: {} })).toBe(false)
  const late = send({ signal: stop.signal })
  await expect(late.result).rejects.toThrow('enough')
  expect(late.sent).toEqual([])
})

test('what waits ends with its connection; what is no answer to it is for the SDK (MCP-1)', async () => {
  const { plain, result, id } = send()
  const others = [
    { jsonrpc: '2.0', id: id + 1, result: {} },
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id, method: 'elicitation/create', params: {} },
    { jsonrpc: '2.0', id, result: 'text' },
    { jsonrpc: '2.0', method: 'notifications/message', params: {} },
    'text',
  ]
  expect(others.map((message) => plain.take(message))).toEqual(others.map(() => false))
  plain.close()
  await expect(result).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
})
