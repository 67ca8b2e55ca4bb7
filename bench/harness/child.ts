// One contender in a process of its own: `child.ts <module> <index> <milliseconds of a round>`, driven over IPC.
import type { Contender, Prepared } from './contender.ts'
import { faultLine } from './fault-line.ts'
import { breakInputs, taskRuns } from './task.ts'

/** What the child is asked for: a timed round, or its end. `percentile` (0 to 1) times every call by itself. */
export type Ask = { ask: 'round'; percentile?: number } | { ask: 'close' }

/** What it answers: once when it is ready, then once a round. */
export type Answer =
  | { answer: 'ready'; validates: boolean; callsPerRound: number }
  /** `microseconds` of one call: the mean of the round, or the percentile that was asked for. */
  | { answer: 'round'; microseconds: number }
  | { answer: 'failed'; message: string }

async function main(path: string, index: number, roundMs: number): Promise<void> {
  const { contenders }: { contenders: readonly Contender[] } = await import(path)
  const contender = contenders[index]
  if (contender === undefined) throw new Error(`${path} has no contender ${index}`)
  const prepared = await contender.prepare()
  const callsPerRound = await warmUp(contender, prepared, roundMs)
  const validates = contender.otherTask === true || (await refusesBadInput(contender, prepared))
  process.on('message', (ask: Ask) => {
    reply(ask, contender, { prepared, callsPerRound }).catch(fail)
  })
  send({ answer: 'ready', validates, callsPerRound })
}

async function reply(
  ask: Ask,
  contender: Contender,
  { prepared, callsPerRound }: { prepared: Prepared; callsPerRound: number },
): Promise<void> {
  if (ask.ask === 'close') {
    await prepared.close()
    process.disconnect?.()
    return
  }
  const before = taskRuns()
  const microseconds =
    ask.percentile === undefined
      ? ((await time(() => prepared.round(callsPerRound))) * 1000) / callsPerRound
      : await timeEach(prepared, callsPerRound, ask.percentile)
  const ran = taskRuns() - before
  if (contender.otherTask !== true && ran !== callsPerRound)
    throw new Error(`${ran} of ${callsPerRound} calls reached the tool`)
  send({ answer: 'round', microseconds })
}

/** Warms up for thirty rounds, so that the code is compiled by then, and finds how many calls fill one. */
async function warmUp(contender: Contender, prepared: Prepared, roundMs: number): Promise<number> {
  const batch = contender.batch ?? 1
  let calls = batch
  let spent = 0
  for (;;) {
    const ms = await time(() => prepared.round(calls))
    spent += ms
    if (spent >= 30 * roundMs) return batch * Math.max(1, Math.round((roundMs / ms) * (calls / batch)))
    if (ms < roundMs) calls *= 2
  }
}

/** Whether an input out of bounds is kept from the tool, in whatever way the contender says so. */
async function refusesBadInput(contender: Contender, prepared: Prepared): Promise<boolean> {
  const before = taskRuns()
  breakInputs(true)
  await prepared.round(contender.batch ?? 1).catch(() => undefined)
  breakInputs(false)
  return taskRuns() === before
}

async function timeEach(prepared: Prepared, calls: number, percentile: number): Promise<number> {
  const samples = new Float64Array(calls)
  for (let i = 0; i < calls; i++) samples[i] = await time(() => prepared.round(1))
  samples.sort()
  return (samples[Math.ceil(calls * percentile) - 1] ?? Number.NaN) * 1000
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function send(answer: Answer): void {
  process.send?.(answer)
}

/** Says why and ends, whatever else is still open in this process. */
function fail(error: unknown): void {
  const answer: Answer = { answer: 'failed', message: faultLine(error) }
  process.send?.(answer, () => process.exit(1))
}

const [path = '', index = '', roundMs = ''] = process.argv.slice(2)
main(path, Number(index), Number(roundMs)).catch(fail)
