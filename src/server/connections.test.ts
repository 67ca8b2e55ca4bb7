import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime } from '../../test/mcp/fake-runtime.ts'
import { createConnections } from './connections.ts'
import { createFronts } from './front.ts'

const caller = { key: 'ann', session: {}, expiresAt: undefined }

/** Connections whose fronts open when the gate does. */
function setUp() {
  const gate = Promise.withResolvers<void>()
  const openFront = createFronts({ runtime: createFakeRuntime([]) }, () => {})
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
