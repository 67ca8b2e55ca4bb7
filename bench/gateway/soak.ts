import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { makeDirectory } from '../handrail/load.ts'
import { faultLine } from '../harness/fault-line.ts'
import { median } from '../harness/report.ts'
import { layHome, startGateway, startUpstream, stdioUpstream, toServer, type Started } from './programs.ts'
import { residentMb } from './resident-mb.ts'

/** What came of it. */
export interface Soaked {
  readonly made: number
  readonly callsPerSecond: number
  /** Answered as done. */
  readonly ok: number
  /** Answered with an error. */
  readonly failed: number
  readonly unanswered: number
  /** Answered as done and not done by any server. */
  readonly lost: number
  readonly doubled: number
  readonly kills: number
  /** Every five seconds. */
  readonly residentMb: readonly number[]
  /** By how many percent the memory at the end is over that after the first minute. Undefined if there was not much more. */
  readonly growth: number | undefined
}

const callsEachTick = 2
const tickMs = 10
/** Where so many calls wait, the machine does not manage 200 a second, and no more are made until some are answered. */
const mostOpen = 256
const sampleMs = 5_000
/** Between two kills. */
const killMs = { least: 500, most: 4_000 }
/** How long a server on HTTP stays away. */
const awayMs = 300

/** A server that is killed now and then. */
interface Victim {
  readonly tool: string
  kill(): Promise<void>
  end(): Promise<void>
}

/**
 * Calls at 200 a second through `handrail serve`, over HTTP to two servers on stdio and two on HTTP that are killed at random. Each call
 * carries a number of its own, which the server that does it writes down.
 */
export async function soak(durationMs: number): Promise<Soaked> {
  const { directory, remove } = makeDirectory()
  const log = join(directory, 'done.log')
  writeFileSync(log, '')
  const ports = await Promise.all([startUpstream('--log', log), startUpstream('--log', log)])
  const stdio = (name: string) =>
    toServer(stdioUpstream('--log', log, '--mark', markOf(directory, name)), [directory])
  layHome(directory, {
    stdio1: stdio('stdio1'),
    stdio2: stdio('stdio2'),
    http1: { url: ports[0].url },
    http2: { url: ports[1].url },
  })
  // Servers on stdio run as somebody else where root runs the bench.
  chmodSync(directory, 0o777)
  chmodSync(log, 0o666)
  const victims: Victim[] = [
    ...['stdio1', 'stdio2'].map((name) => programVictim(name, directory)),
    ...ports.map((started, index) => webVictim(`http${index + 1}`, started, log)),
  ]
  const gateway = await startGateway(directory)
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)))
    const { tools } = await client.listTools()
    if (tools.filter(({ name }) => name.endsWith('__add')).length !== victims.length)
      throw new Error(`there are only ${tools.map(({ name }) => name).join(', ')}`)
    const watched = watchMemory(gateway)
    const killer = killAtRandom(victims, durationMs)
    const calls = await callSteadily(client, victims, durationMs)
    const kills = await killer
    return { ...calls, ...countDone(log, calls), ...watched.stop(), kills }
  } finally {
    await client.close().catch(() => {})
    await gateway.end()
    for (const victim of victims) await victim.end()
    remove()
  }
}

/** The numbers of the calls by how they ended. */
interface Calls {
  readonly made: number
  readonly callsPerSecond: number
  readonly ok: number
  readonly failed: number
  readonly unanswered: number
  readonly done: ReadonlySet<number>
}

async function callSteadily(client: Client, victims: readonly Victim[], durationMs: number): Promise<Calls> {
  const done = new Set<number>()
  const failed = new Set<number>()
  const open = new Set<Promise<void>>()
  let made = 0
  let unanswered: string | undefined
  const call = async (number: number, name: string): Promise<void> => {
    const input = { item: 'garden hose', count: number, unit: 'piece', express: true }
    try {
      const { isError } = await client.callTool({ name, arguments: input }, { timeout: 120_000 })
      if (isError === true) failed.add(number)
      else done.add(number)
    } catch (error) {
      // Nobody answered: counted as what is neither done nor failed.
      unanswered ??= `${name}, call ${number}: ${faultLine(error)}, ${faultLine(Object(error).cause)}`
    }
  }
  const start = performance.now()
  for (let ticks = 0; performance.now() - start < durationMs; ticks++) {
    for (let each = 0; each < callsEachTick && open.size < mostOpen; each++) {
      const victim = victims[made % victims.length]
      const running: Promise<void> = call(++made, victim?.tool ?? '').finally(() => open.delete(running))
      open.add(running)
    }
    await sleep(Math.max(0, start + (ticks + 1) * tickMs - performance.now()))
  }
  const seconds = (performance.now() - start) / 1_000
  await Promise.all(open)
  if (unanswered !== undefined) process.stderr.write(`bench: not answered: ${unanswered}\n`)
  return {
    made,
    callsPerSecond: made / seconds,
    ok: done.size,
    failed: failed.size,
    unanswered: made - done.size - failed.size,
    done,
  }
}

function countDone(log: string, { done }: Calls): { lost: number; doubled: number } {
  const times = new Map<number, number>()
  for (const line of readFileSync(log, 'utf8').trim().split('\n'))
    times.set(Number(line), (times.get(Number(line)) ?? 0) + 1)
  const lost = [...done].filter((number) => !times.has(number)).length
  const doubled = [...times.values()].filter((count) => count > 1).length
  return { lost, doubled }
}

async function killAtRandom(victims: readonly Victim[], durationMs: number): Promise<number> {
  const end = performance.now() + durationMs
  let kills = 0
  for (;;) {
    await sleep(killMs.least + Math.random() * (killMs.most - killMs.least))
    if (performance.now() > end) return kills
    await victims[Math.floor(Math.random() * victims.length)]?.kill()
    kills++
  }
}

/** What no other process has among its arguments. */
function markOf(directory: string, name: string): string {
  return `${directory}#${name}`
}

/** The gateway starts it, and starts it again. Which process it is, is found by its arguments: its own number is one of its sandbox. */
function programVictim(name: string, directory: string): Victim {
  const mark = markOf(directory, name)
  return {
    tool: `mcp__${name}__add`,
    async kill() {
      for (const pid of findProcesses(mark)) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL')
    },
    async end() {},
  }
}

/** Servers with this mark; the sandbox around one is no server. */
function findProcesses(mark: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines
    .filter((line) => line.includes(mark) && line.trim().split(/\s+/)[1] === process.execPath)
    .map((line) => Number.parseInt(line, 10))
}

/** Killed, and started again on the same port a little later. */
function webVictim(name: string, first: Started & { url: string }, log: string): Victim {
  let current: Started = first
  const { port } = new URL(first.url)
  return {
    tool: `mcp__${name}__add`,
    async kill() {
      current.child.kill('SIGKILL')
      await sleep(awayMs)
      current = await startUpstream('--log', log, '--port', port)
    },
    end: () => current.end(),
  }
}

function watchMemory(gateway: Started): { stop(): Pick<Soaked, 'residentMb' | 'growth'> } {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(residentMb(gateway.child.pid ?? 0)), sampleMs)
  return {
    stop() {
      clearInterval(timer)
      const perMinute = 60_000 / sampleMs
      // Of half a minute each, since memory goes up and down with each collection.
      const before = median(samples.slice(perMinute - 6, perMinute))
      const after = samples.length < perMinute + 6 ? undefined : median(samples.slice(-6))
      const growth = before === undefined || after === undefined ? undefined : (after / before - 1) * 100
      return { residentMb: samples, growth }
    },
  }
}
