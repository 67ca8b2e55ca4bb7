import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime, fakeTool } from '../../../../test/mcp/fake-runtime.ts'
import type { Caller } from '../callers/caller.ts'
import { createConnections, type Connection } from './connections.ts'
import { createClientServers } from '../client-server.ts'

const anybody = { key: 'everybody', session: {}, expiresAt: undefined, isAnybody: true }
const [ann, bob] = ['ann', 'bob'].map((key) => ({ key, session: {}, expiresAt: undefined })) as [
  Caller,
  Caller,
]

const hanging = fakeTool({ name: 'demo.hang' }, (_input, { signal }) => {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(new Error('It was aborted.')))
  return promise
})
const hang = {
  name: 'demo__hang',
  input: {},
  idempotencyKey: undefined,
  consent: undefined,
  trace: undefined,
}

/** Connections whose client servers open when the gate does. */
function setUp(maxSessions = 2) {
  const gate = Promise.withResolvers<void>()
  const openClientServer = createClientServers({ runtime: createFakeRuntime([hanging]) }, () => {})
  const clientServers = { open: 0 }
  const connections = createConnections({
    async openClientServer(connectRequest) {
      await gate.promise
      const clientServer = await openClientServer(connectRequest)
      clientServers.open++
      return {
        ...clientServer,
        async close() {
          clientServers.open--
          await clientServer.close()
        },
      }
    },
    maxSessions,
    idleMs: 60_000,
    maxAgeMs: 60_000,
    log: () => {},
  })
  onTestFinished(() => connections.close())
  return { connections, clientServers, open: gate.resolve }
}

test('sessions that are being opened count as sessions (MCP-2, MCP-3)', async () => {
  const { connections, clientServers, open } = setUp()
  const opening = [1, 2, 3].map(() => connections.open(anybody, {}))
  open()
  const opened = await Promise.all(opening)
  expect(opened.map((each) => 'status' in each)).toEqual([false, false, true])
  expect(clientServers.open).toBe(2)
  // Both are idle by now, so the elder one makes room.
  expect(await connections.open(anybody, {})).not.toHaveProperty('status')
  expect(clientServers.open).toBe(2)
})

test('a session that comes about when the server has closed is closed too (MCP-2)', async () => {
  const { connections, clientServers, open } = setUp()
  const opening = connections.open(anybody, {})
  await connections.close()
  open()
  expect(await opening).toMatchObject({ status: 503 })
  expect(clientServers.open).toBe(0)
})

test('a session with a call that its client may come back for makes room last (MCP-2, MCP-3)', async () => {
  const { connections, open } = setUp()
  open()
  const enter = async () => {
    const opened = await connections.open(anybody, {})
    if ('status' in opened) throw new Error('There is no room.')
    return opened
  }
  const isThere = ({ transport }: Connection) => connections.find(transport.sessionId, anybody) !== undefined
  const [waitedFor, idle] = [await enter(), await enter()]
  waitedFor.clientServer.client.begin(hang)
  const late = await enter()
  expect([waitedFor, idle, late].map(isThere)).toEqual([true, false, true])
  late.clientServer.client.begin(hang)
  await enter()
  expect([waitedFor, late].map(isThere)).toEqual([false, true])
})

test('a caller that opens many sessions ends its own ones, and never more than half are its own (MCP-3)', async () => {
  const { connections, clientServers, open } = setUp(4)
  open()
  const enter = async (caller: Caller) => {
    const opened = await connections.open(caller, {})
    return 'status' in opened ? 'refused' : opened.transport.sessionId
  }
  const ofAnn = await enter(ann)
  const ofBob = [await enter(bob), await enter(bob), await enter(bob), await enter(bob)]
  expect(clientServers.open).toBe(3)
  expect(connections.find(ofAnn, ann)).toBeDefined()
  expect(ofBob.map((id) => connections.find(id, bob) !== undefined)).toEqual([false, false, true, true])
  // The server is full then: who has most makes room.
  const others = ['cid', 'dan', 'eve'].map((key) => ({ ...ann, key }))
  for (const other of others) await enter(other)
  expect(connections.find(ofAnn, ann)).toBeUndefined()
})

test('sessions of a caller that are all at work make no room, and others still get theirs (MCP-3)', async () => {
  const { connections, open } = setUp(4)
  open()
  for (let i = 0; i < 2; i++) {
    const opened = await connections.open(bob, {})
    if (!('status' in opened))
      opened.transport.request(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'demo__hang' } },
        new ServerResponse(new IncomingMessage(new Socket())),
      )
  }
  expect(await connections.open(bob, {})).toMatchObject({ status: 503 })
  expect(await connections.open(ann, {})).not.toHaveProperty('status')
})
