import { expect, test } from 'vitest'
import { createConnectionSlot } from './connection-slot.ts'
import type { Connection } from './open-connection.ts'

test('what is renewed while it is being opened is opened anew, whether it would have opened or not (MCP-1)', async () => {
  const tries: PromiseWithResolvers<Connection>[] = []
  const closed: string[] = []
  const make = (name: string): Connection =>
    Object.assign(Object.create(null), {
      name,
      ended: new AbortController().signal,
      close: async () => void closed.push(name),
    })
  const end = new AbortController()
  const slot = createConnectionSlot({
    connect() {
      const next = Promise.withResolvers<Connection>()
      tries.push(next)
      return next.promise
    },
    onOpen: () => {},
    onLost: () => {},
    signal: end.signal,
  })
  const opening = slot.open()
  slot.renew()
  tries[0]?.resolve(make('old'))
  await expect.poll(() => tries.length).toBe(2)
  slot.renew()
  tries[1]?.reject(new Error('the old package does not start'))
  await expect.poll(() => tries.length).toBe(3)
  const wanted = make('new')
  tries[2]?.resolve(wanted)
  expect(await opening).toBe(wanted)
  expect(closed).toEqual(['old'])
  end.abort()
  await slot.close()
})
