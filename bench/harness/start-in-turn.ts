import { spawnSync } from 'node:child_process'
import { faultLine } from './fault-line.ts'
import type { Series } from './report.ts'

/** A process from its start to its end. */
export interface Start {
  name: string
  argv: readonly string[]
  cwd: string
  env?: { [name: string]: string }
  /** What it reads, made for each start. */
  input?: () => string
}

/** Starts each process of these groups once a round, one at a time, and waits for its end. */
export function startInTurn(groups: readonly (readonly Start[])[], rounds: number): Series[][] {
  const series = groups.map((starts) => starts.map(({ name }): Series => ({ name, values: [] })))
  for (let round = 0; round <= rounds; round++)
    for (const [group, starts] of groups.entries())
      for (const [index, start] of starts.entries()) {
        const own = series[group]?.[index]
        if (own !== undefined && own.failed === undefined) startOnce(start, own, round > 0)
      }
  return series
}

/** The first time is not kept: it fills the caches of the disk. */
function startOnce(start: Start, series: Series, keep: boolean): void {
  const before = performance.now()
  const done = spawnSync(process.execPath, start.argv, {
    cwd: start.cwd,
    env: { ...process.env, ...start.env },
    encoding: 'utf8',
    ...(start.input !== undefined && { input: start.input() }),
  })
  const ms = performance.now() - before
  if (done.status !== 0) series.failed = `ended with ${done.status}: ${faultLine(done.stderr)}`
  else if (keep) series.values.push(ms)
}
