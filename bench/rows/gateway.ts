import { measureFirstCall } from '../gateway/first-call.ts'
import { measureSyncs } from '../gateway/measure-syncs.ts'
import { race } from '../harness/race.ts'
import {
  median,
  named,
  ratio,
  type Group,
  type Reach,
  type Row,
  type Series,
  type Settings,
} from '../harness/report.ts'

const direct = { stdio: 'direct, stdio', http: 'direct, HTTP' }
const proxy = {
  stdio: 'bare proxy, stdio to stdio',
  http: 'bare proxy, HTTP to HTTP',
  mixed: 'bare proxy, HTTP to stdio',
}
const ours = {
  stdio: 'handrail serve --stdio, to stdio',
  http: 'handrail serve, HTTP to HTTP',
  mixed: 'handrail serve, HTTP to stdio',
}

const hub = 'mcp-hub, SSE to stdio'
const five = { hub: 'mcp-hub, SSE, 5 servers on stdio', ours: 'handrail serve, HTTP, 5 servers on stdio' }

/** Rounds of contenders that are several processes each are longer, so that all of them are at work. */
const roundMs = 200

/** One call of an MCP server through Handrail, with its evidence on the disk, against the same call without anything between. */
export async function measure(settings: Settings): Promise<Row> {
  const longer = { ...settings, roundMs: Math.min(roundMs, settings.roundMs * 4) }
  const run = (wire: string, options = {}) =>
    race([new URL(`../gateway/${wire}.ts`, import.meta.url)], longer, options)
  const oneOnStdio = await run('stdio-single', { percentile: 0.5 })
  const oneOnHttp = await run('http-single', { percentile: 0.5 })
  const oneOfFive = await run('five-single', { percentile: 0.5 })
  const manyOnStdio = await run('stdio-many')
  const manyOnHttp = await run('http-many')
  const firstCall = await measureFirstCall(settings)
  const syncs = { name: 'two syncs of the disk', values: measureSyncs(settings.rounds) }
  return {
    groups: [
      toGroup('p50 of one call of an MCP server, stdio', oneOnStdio, [direct.stdio, proxy.stdio]),
      toGroup('p50 of one call of an MCP server, HTTP', oneOnHttp, [direct.http, proxy.http, hub]),
      toGroup('p50 of a later call with 5 servers, one at a time', oneOfFive, [five.hub]),
      toGroup('one call of an MCP server, 32 in flight, stdio', manyOnStdio, [direct.stdio, proxy.stdio]),
      toGroup('one call of an MCP server, 32 in flight, HTTP', manyOnHttp, [
        direct.http,
        proxy.http,
        proxy.mixed,
        hub,
      ]),
      { title: 'first call after a later start, stdio', unit: 'ms', against: [], series: [firstCall] },
      { title: 'what a call waits for, if all else were free', unit: 'µs', against: [], series: [syncs] },
    ],
    reaches: [
      added(oneOnStdio, syncs),
      {
        what: 'a later call with 5 servers, one at a time / mcp-hub',
        unit: '×',
        value: over(oneOfFive, [five.ours, five.hub]),
        atMost: 1,
      },
      { what: 'first call after a later start', unit: 'ms', value: middleOf(firstCall), atMost: 100 },
      flow('stdio', { all: manyOnStdio, pair: [ours.stdio, proxy.stdio] }),
      flow('HTTP', { all: manyOnHttp, pair: [ours.http, proxy.http], rate: 1.5 }),
      flow('HTTP to stdio', { all: manyOnHttp, pair: [ours.mixed, proxy.mixed] }),
    ],
  }
}

const heads = new Map([
  [direct.stdio, 'direct'],
  [direct.http, 'direct'],
  [proxy.stdio, 'proxy'],
  [proxy.http, 'proxy'],
  [proxy.mixed, 'to stdio'],
  [hub, 'hub'],
  [five.hub, 'hub'],
])

function toGroup(title: string, series: readonly Series[], against: readonly string[]): Group {
  return {
    title,
    unit: 'µs',
    against: against.map((name) => ({ name, as: heads.get(name) ?? name })),
    series,
  }
}

function over(all: readonly Series[], [one, other]: readonly [string, string]): number | undefined {
  return ratio(named(all, one), named(all, other))
}

/** What the gateway adds to the median call on stdio, beside two syncs of the disk and 0.3 ms. */
function added(all: readonly Series[], syncs: Series): Reach {
  const [own, bare, floor] = [named(all, ours.stdio), named(all, direct.stdio), syncs].map(middleOf)
  const value =
    own === undefined || bare === undefined || floor === undefined ? undefined : own - bare - floor
  const what = 'what the gateway adds to one call on stdio, beside two syncs of the disk'
  return { what, unit: 'µs', value, atMost: 300 }
}

function middleOf(series: Series | undefined): number | undefined {
  return series === undefined || series.failed !== undefined ? undefined : median(series.values)
}

interface Flow {
  readonly all: readonly Series[]
  readonly pair: readonly [string, string]
  /** The calls in a second that it should make for each of the bare proxy. Default 0.6. */
  readonly rate?: number
}

function flow(wire: string, { all, pair, rate = 0.6 }: Flow): Reach {
  const atMost = Number((1 / rate).toPrecision(3))
  const what = `one call at 32 in flight, ${wire} / bare proxy (${atMost} × is ${rate} of its calls/s)`
  return { what, unit: '×', value: over(all, pair), atMost }
}
