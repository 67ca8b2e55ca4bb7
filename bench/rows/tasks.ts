import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { p95, type Row, type Series, type Settings } from '../harness/report.ts'

/** What it costs to claim a step of a large task. */
export async function measure(settings: Settings): Promise<Row> {
  const claimed: Series = { name: 'claim a step of 10,000, each of 64 workers holds one', values: [] }
  const called: Series = { name: 'the same as a call, with its evidence', values: [] }
  const done: Series = { name: 'one step claimed and completed, 64 workers at once', values: [] }
  const made: Series = { name: 'make the task, 1,000 steps a call', values: [] }
  try {
    const script = fileURLToPath(new URL('claim.ts', import.meta.url))
    const options = { env: environmentOf(settings), maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, [script], options)
    const { claimMs, callMs, stepMs, makeMs } = JSON.parse(stdout)
    claimed.values.push(...claimMs)
    called.values.push(...callMs)
    done.values.push(stepMs)
    made.values.push(makeMs)
  } catch (error) {
    claimed.failed = faultLine(error)
  }
  return {
    groups: [{ title: 'tasks, on the disk', unit: 'ms', against: [], series: [claimed, called, done, made] }],
    reaches: [{ what: 'claim a step of 10,000, p95', unit: 'ms', value: p95(claimed.values), atMost: 2 }],
  }
}
