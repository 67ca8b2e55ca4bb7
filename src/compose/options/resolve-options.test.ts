import { expect, test } from 'vitest'
import { configurationSchema } from '../../config/file-schemas.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { resolveRuntimeOptions } from './resolve-options.ts'

test('the limits of a runtime are these where nothing is said, and the configuration says so of each', () => {
  const { limits } = resolveRuntimeOptions({ project: import.meta.dirname }, createSchemaChecker())
  expect(limits).toEqual({
    defaultTimeoutMs: 120_000,
    maxTimeoutMs: 600_000,
    maxBytesIn: 2_097_152,
    maxBytesOut: 8_388_608,
    inlineBytes: 32_768,
    artifactBytes: 268_435_456,
    parallelReads: 10,
    parallelAgents: 4,
    agentsPerSession: 8,
    callsPerSession: undefined,
    repeatsPerSession: 50,
    approvalTimeoutMs: 600_000,
    pendingApprovalMs: 86_400_000,
    elicitationTimeoutMs: 600_000,
    approvalTtlMs: 60_000,
    abortGraceMs: 2_000,
    idempotencyWindowMs: 86_400_000,
  })
  const said = Object.entries(configurationSchema.properties?.['limits']?.properties ?? {}).map(
    ([name, { description = '' }]) => [name, /Default:? (\d+|no limit)\./.exec(description)?.[1]],
  )
  expect(said).toEqual(Object.entries(limits).map(([name, limit]) => [name, String(limit ?? 'no limit')]))
})
