import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, type Row, type Series, type Settings } from '../harness/report.ts'

const times = 3

/** What 1,000 agents of one family weigh, and take for a turn, 32 of them at once. */
export async function measure(settings: Settings): Promise<Row> {
  const working: Series = { name: 'an agent at work, of 32', values: [] }
  const kept: Series = { name: 'an agent that has ended, of 1,000', values: [] }
  const turn: Series = { name: 'a turn with a call, of the processor', values: [] }
  const wall: Series = { name: 'a turn with a call, of the clock', values: [] }
  try {
    const script = fileURLToPath(new URL('family-run.ts', import.meta.url))
    for (let time = 0; time < times; time++) {
      const options = { env: environmentOf(settings) }
      const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script], options)
      const { workingKb, keptKb, turnMs, wallMs } = JSON.parse(stdout)
      working.values.push(workingKb)
      kept.values.push(keptKb)
      turn.values.push(turnMs)
      wall.values.push(wallMs)
    }
  } catch (error) {
    working.failed = faultLine(error)
  }
  return {
    groups: [
      { title: '1,000 agents of one, memory', unit: 'KB', against: [], series: [working, kept] },
      { title: '1,000 agents of one, on the disk', unit: 'ms', against: [], series: [turn, wall] },
    ],
    reaches: [
      { what: 'an agent of 32 at work', unit: 'KB', value: median(working.values), atMost: 200 },
      { what: 'a turn of 1,000 agents, 32 at once', unit: 'ms', value: median(turn.values), atMost: 2 },
    ],
  }
}
