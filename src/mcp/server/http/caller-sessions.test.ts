import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime, fakeTool } from '../../../../test/mcp/fake-runtime.ts'
import { createClientServers, type ClientServer } from '../client-server.ts'
import { createCallerSessions } from './caller-sessions.ts'

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

test('a caller with a call to come back for makes room last (MCP-2, MCP-3)', async () => {
  const openClientServer = createClientServers({ runtime: createFakeRuntime([hanging]) }, () => {})
  const clientServers = new Map<string, ClientServer>()
  const closed: string[] = []
  const sessions = createCallerSessions({
    async openClientServer(connectRequest) {
      const clientServer = await openClientServer(connectRequest)
      const { key } = connectRequest.caller
      clientServers.set(key, clientServer)
      return {
        ...clientServer,
        async close() {
          closed.push(key)
          await clientServer.close()
        },
      }
    },
    maxSessions: 2,
    idleMs: 60_000,
    maxAgeMs: 60_000,
    log: () => {},
  })
  onTestFinished(() => sessions.close())
  /** A request of a caller that is over at once. */
  const visit = async (key: string): Promise<void> => {
    const present = await sessions.of({ key, session: {}, expiresAt: undefined })
    if ('status' in present) throw new Error('There is no room.')
    present.leave()
  }
  await visit('ann')
  clientServers.get('ann')?.client.begin(hang)
  await visit('bob')
  await visit('cid')
  await expect.poll(() => closed).toEqual(['bob'])
  clientServers.get('cid')?.client.begin(hang)
  await visit('dan')
  await expect.poll(() => closed).toEqual(['bob', 'ann'])
})
