import { expect, test } from 'vitest'
import type { Runtime } from '../../contract/runtime.ts'
import type { Places } from '../setup/wire.ts'
import { keepRuntimes } from './keep-runtimes.ts'

const places = {} as Places

test('hooks that wait for a runtime that cannot be made share the next one, which is closed with the rest', async () => {
  const first = Promise.withResolvers<Runtime>()
  const made: Promise<Runtime>[] = []
  let closed = 0
  const runtimes = keepRuntimes({
    tell: () => {},
    describe: () => 'as it is',
    wire() {
      const runtime =
        made.length === 0 ? first.promise : Promise.resolve({ close: async () => void closed++ } as Runtime)
      made.push(runtime)
      return runtime
    },
  })
  const all = [1, 2, 3].map((hook) => runtimes.withRuntime(places, async () => hook))
  first.reject(new Error('It cannot be made.'))
  expect(await Promise.allSettled(all)).toMatchObject([
    { reason: { message: 'It cannot be made.' } },
    { value: 2 },
    { value: 3 },
  ])
  expect(made).toHaveLength(2)
  await runtimes.close()
  expect(closed).toBe(1)
})
