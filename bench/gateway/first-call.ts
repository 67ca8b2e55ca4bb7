import { makeDirectory } from '../handrail/load.ts'
import { faultLine } from '../harness/fault-line.ts'
import type { Series, Settings } from '../harness/report.ts'
import { nextInput } from '../harness/task.ts'
import { layHome, startGateway, stdioUpstream, toServer } from './programs.ts'
import { openRawSession } from './raw-session.ts'

const tool = 'mcp__up__add'

/** The first call of a client after a start of the gateway, whose server was called in the run before. */
export async function measureFirstCall(settings: Settings): Promise<Series> {
  const series: Series = { name: 'handrail serve, HTTP to stdio', values: [] }
  process.env.HANDRAIL_INSTALLED = settings.installed
  const { directory, remove } = makeDirectory()
  layHome(directory, { up: toServer(stdioUpstream()) })
  try {
    // The first run meets the server.
    await timeFirstCall(directory)
    for (let round = 0; round < Math.min(settings.rounds, 7); round++)
      series.values.push(await timeFirstCall(directory))
  } catch (error) {
    series.failed = faultLine(error)
  }
  remove()
  return series
}

async function timeFirstCall(directory: string): Promise<number> {
  const served = await startGateway(directory)
  try {
    const session = await openRawSession(served.url)
    await session.list()
    const before = performance.now()
    const text = await session.call(tool, nextInput())
    const ms = performance.now() - before
    if (!text.includes('piece of garden hose')) throw new Error(`the first call gives ${text.slice(0, 300)}`)
    await session.close()
    return ms
  } finally {
    await served.end()
  }
}
