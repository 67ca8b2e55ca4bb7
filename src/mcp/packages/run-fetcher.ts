import type { Fetching } from './fetching.ts'
import { runStep, type StepEnd } from './run-step.ts'

/** How a package manager is run for a fetch. */
export interface FetcherRun {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The hosts that it may reach. */
  readonly hosts: readonly string[]
  /** What it may read beside the folder of the fetch. */
  readonly read: readonly string[]
}

/** Runs a package manager to its end in the folder of the fetch, with its cache. Rejects as `runStep` does. */
export function runFetcher(
  { programs, tenant, folder, cache, signal }: Fetching,
  { argv, env, hosts, read }: FetcherRun,
): Promise<StepEnd> {
  const own = { home: folder, write: [cache], read, hosts }
  return runStep(programs, { tenant, argv, cwd: folder, env, read: [], write: [], hosts, own }, signal)
}
