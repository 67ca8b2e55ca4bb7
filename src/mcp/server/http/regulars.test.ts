import { expect, onTestFinished, test } from 'vitest'
import { createFakeRuntime, fakeTool } from '../../../../test/mcp/fake-runtime.ts'
import { createFronts, type Front } from '../front.ts'
import { createRegulars } from './regulars.ts'

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
  const openFront = createFronts({ runtime: createFakeRuntime([hanging]) }, () => {})
  const fronts = new Map<string, Front>()
  const closed: string[] = []
  const regulars = createRegulars({
    async openFront(guest) {
      const front = await openFront(guest)
      const { key } = guest.caller
      fronts.set(key, front)
      return {
        ...front,
        async close() {
          closed.push(key)
          await front.close()
        },
      }
    },
    maxSessions: 2,
    idleMs: 60_000,
    maxAgeMs: 60_000,
    log: () => {},
  })
  onTestFinished(() => regulars.close())
  /** A request of a caller that is over at once. */
  const visit = async (key: string): Promise<void> => {
    const present = await regulars.of({ key, session: {}, expiresAt: undefined })
    if ('status' in present) throw new Error('There is no room.')
    present.leave()
  }
  await visit('ann')
  fronts.get('ann')?.client.begin({ ...hang, canAsk: false })
  await visit('bob')
  await visit('cid')
  await expect.poll(() => closed).toEqual(['bob'])
  fronts.get('cid')?.client.begin({ ...hang, canAsk: false })
  await visit('dan')
  await expect.poll(() => closed).toEqual(['bob', 'ann'])
})
