import { vi } from 'vitest'

/**
 * What a test waits for may take long on a machine that is busy with much else, and is looked for often, as it mostly comes soon. Loaded
 * before every test file, which mostly share a process; `expect.poll` has the same in `vitest.config.ts`.
 */
const patience = { timeout: 180_000, interval: 10 } as const

const { waitFor, waitUntil } = vi

if (waitFor.name !== 'waitForPatiently') {
  vi.waitFor = function waitForPatiently(check, options) {
    return waitFor(check, { ...patience, ...toOptions(options) })
  }
  vi.waitUntil = (check, options) => waitUntil(check, { ...patience, ...toOptions(options) })
}

type Options = Parameters<typeof waitFor>[1]

function toOptions(given: Options): object {
  return typeof given === 'number' ? { timeout: given } : { ...given }
}
