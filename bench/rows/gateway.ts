import { race } from '../harness/race.ts'
import {
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

/** Rounds of contenders that are several processes each are longer, so that all of them are at work. */
const roundMs = 200

/** One call of an MCP server through Handrail, with its evidence on the disk, against the same call without anything between. */
export async function measure(settings: Settings): Promise<Row> {
  const longer = { ...settings, roundMs: Math.min(roundMs, settings.roundMs * 4) }
  const run = (wire: string, options = {}) =>
    race([new URL(`../gateway/${wire}.ts`, import.meta.url)], longer, options)
  const oneOnStdio = await run('stdio-single', { percentile: 0.5 })
  const oneOnHttp = await run('http-single', { percentile: 0.5 })
  const manyOnStdio = await run('stdio-many')
  const manyOnHttp = await run('http-many')
  return {
    groups: [
      toGroup('p50 of one call of an MCP server, stdio', oneOnStdio, [direct.stdio, proxy.stdio]),
      toGroup('p50 of one call of an MCP server, HTTP', oneOnHttp, [direct.http, proxy.http]),
      toGroup('one call of an MCP server, 32 in flight, stdio', manyOnStdio, [direct.stdio, proxy.stdio]),
      toGroup('one call of an MCP server, 32 in flight, HTTP', manyOnHttp, [
        direct.http,
        proxy.http,
        proxy.mixed,
      ]),
    ],
    reaches: [
      added('stdio', oneOnStdio, [ours.stdio, direct.stdio]),
      added('HTTP', oneOnHttp, [ours.http, direct.http]),
      flow('stdio', manyOnStdio, [ours.stdio, proxy.stdio]),
      flow('HTTP', manyOnHttp, [ours.http, proxy.http]),
      flow('HTTP to stdio', manyOnHttp, [ours.mixed, proxy.mixed]),
    ],
  }
}

const heads = new Map([
  [direct.stdio, 'direct'],
  [direct.http, 'direct'],
  [proxy.stdio, 'proxy'],
  [proxy.http, 'proxy'],
  [proxy.mixed, 'to stdio'],
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

function added(wire: string, all: readonly Series[], pair: readonly [string, string]): Reach {
  const times = over(all, pair)
  return {
    what: `what the gateway adds to one call on ${wire} / the direct call`,
    unit: '×',
    value: times === undefined ? undefined : times - 1,
    atMost: 1,
  }
}

function flow(wire: string, all: readonly Series[], pair: readonly [string, string]): Reach {
  return {
    what: `one call at 32 in flight, ${wire} / bare proxy (1.67 × is 0.6 of its calls/s)`,
    unit: '×',
    value: over(all, pair),
    atMost: 1.67,
  }
}
