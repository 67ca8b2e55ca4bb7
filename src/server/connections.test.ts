import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime, fakeTool } from '../../test/mcp/fake-runtime.ts'
import { createConnections, type Connection } from './connections.ts'
import { createFronts } from './front.ts'

const caller = { key: 'ann', session: {}, expiresAt: undefined }

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

/** Connections whose fronts open when the gate does. */
function setUp() {
  const gate = Promise.withResolvers<void>()
  const openFront = createFronts({ runtime: createFakeRuntime([hanging]) }, () => {})
  const fronts = { open: 0 }
  const connections = createConnections({
    async openFront(guest) {
      await gate.promise
      const front = await openFront(guest)
      fronts.open++
      return {
        ...front,
        async close() {
          fronts.open--
          await front.close()
        },
      }
    },
    maxSessions: 2,
    idleMs: 60_000,
    maxAgeMs: 60_000,
    log: () => {},
  })
  onTestFinished(() => connections.close())
  return { connections, fronts, open: gate.resolve }
}

test('sessions that are being opened count as sessions (MCP-2, MCP-3)', async () => {
  const { connections, fronts, open } = setUp()
  const opening = [1, 2, 3].map(() => connections.open(caller, {}))
  open()
  const opened = await Promise.all(opening)
  expect(opened.map((each) => 'status' in each)).toEqual([false, false, true])
  expect(fronts.open).toBe(2)
  // Both are idle by now, so the elder one makes room.
  expect(await connections.open(caller, {})).not.toHaveProperty('status')
  expect(fronts.open).toBe(2)
})

test('a session that comes about when the server has closed is closed too (MCP-2)', async () => {
  const { connections, fronts, open } = setUp()
  const opening = connections.open(caller, {})
  await connections.close()
  open()
  expect(await opening).toMatchObject({ status: 503 })
  expect(fronts.open).toBe(0)
})

test('a session with a call that its client may come back for makes room last (MCP-2, MCP-3)', async () => {
  const { connections, open } = setUp()
  open()
  const enter = async () => {
    const opened = await connections.open(caller, {})
    if ('status' in opened) throw new Error('There is no room.')
    return opened
  }
  const isThere = ({ transport }: Connection) => connections.find(transport.sessionId, caller) !== undefined
  const [waitedFor, idle] = [await enter(), await enter()]
  waitedFor.front.client.begin({ ...hang, canAsk: false })
  const late = await enter()
  expect([waitedFor, idle, late].map(isThere)).toEqual([true, false, true])
  late.front.client.begin({ ...hang, canAsk: false })
  await enter()
  expect([waitedFor, late].map(isThere)).toEqual([false, true])
})
