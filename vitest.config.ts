import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['handrail-source', 'node'] },
  ssr: { resolve: { conditions: ['handrail-source', 'node'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Most tests wait for processes and disks.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    globalSetup: ['test/support/build-program.ts'],
    setupFiles: ['test/support/stay-on-loopback.ts'],
  },
})
