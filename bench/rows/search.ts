import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, type Reach, type Row, type Series, type Settings } from '../harness/report.ts'

interface Recall {
  readonly set: string
  readonly own: number
  readonly fts5: number
}

/** What a search for tools costs among 10,000, and how often it finds the right ones. */
export async function measure(settings: Settings): Promise<Row> {
  const searched: Series = { name: 'one search, 10,000 tools', values: [] }
  const built: Series = { name: 'the index of 10,000 tools', values: [] }
  const kept: Series = { name: 'the index of 10,000 tools', values: [] }
  let reaches: Reach[] = []
  try {
    const script = fileURLToPath(new URL('find-tools.ts', import.meta.url))
    const options = { env: environmentOf(settings), maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script], options)
    const { searchMs, buildMs, megabytes, recalls } = JSON.parse(stdout)
    searched.values.push(...searchMs)
    built.values.push(...buildMs)
    kept.values.push(megabytes)
    reaches = recalls.map(toReach)
  } catch (error) {
    searched.failed = faultLine(error)
  }
  return {
    groups: [
      { title: 'search for tools', unit: 'ms', against: [], series: [searched, built] },
      { title: 'search for tools, kept', unit: 'MB', against: [], series: [kept] },
    ],
    reaches: [
      { what: 'one search, p50', unit: 'ms', value: median(searched.values), atMost: 0.05 },
      { what: 'the index is built', unit: 'ms', value: median(built.values), atMost: 150 },
      { what: 'the index is kept', unit: 'MB', value: kept.values[0], atMost: 8 },
      ...reaches,
    ],
  }
}

/** Said as a bound: how far the recall of FTS5 lies above ours, which has to be .05 below zero. */
function toReach({ set, own, fts5 }: Recall): Reach {
  const what = `recall@5 of FTS5 less ours (${own.toFixed(3)}), ${set}`
  return { what, unit: '', value: fts5 - own, atMost: -0.05 }
}
