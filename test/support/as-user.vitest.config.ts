import { defineConfig } from 'vitest/config'

/** Runs files of tests that work on the sources, as a user who can write nothing here. */
export default defineConfig({
  test: {
    cache: false,
    fsModuleCache: false,
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 10 } },
    setupFiles: ['test/support/stay-on-loopback.ts', 'test/support/be-patient.ts'],
  },
})
