import type { Face } from '../../contract/call.ts'
import type { Runtime, SessionOptions } from '../../contract/runtime.ts'
import { callerOptions, callerUsage, readCaller, readText } from '../caller.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Command, CommandLine } from '../command.ts'
import { startFollowing } from '../follow-configuration.ts'
import { startFollowingTools } from '../follow-tools.ts'
import { readChoice } from '../read-choice.ts'
import { listenForStop, whenAborted } from '../stop-signal.ts'
import { createTerminalApprover } from '../terminal-approver.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, readEnvironment, wireRuntime, type Places } from '../wire.ts'

const defaultPort = 7420

/** `handrail serve` */
export const serve: Command = {
  usage: `[--stdio] [--port N] [--face canonical|familiar] [--deliver PATH,…] ${callerUsage}`,
  summary:
    'Serves the tools over MCP: on 127.0.0.1:7420 (HANDRAIL_PORT), or to one client with --stdio. Ctrl-C stops it.',
  options: {
    stdio: { type: 'boolean' },
    port: { type: 'string' },
    face: { type: 'string' },
    deliver: { type: 'string' },
    ...callerOptions,
  },
  takes: 0,
  async run(given) {
    const face = readChoice<Face>(given, 'face', ['canonical', 'familiar']) ?? 'canonical'
    const places = findPlaces(given)
    const deliverables = readText(given, 'deliver')?.split(',')
    const session = { ...readCaller(given), ...(deliverables !== undefined && { deliverables }) }
    const about = { face, session }
    if (given.options['stdio'] === true) return serveOverStdio(places, about)
    return serveOverHttp(places, { ...about, port: readPort(given) })
  },
}

interface Serving {
  face: Face
  /** Who every client is. */
  session: Pick<SessionOptions, 'tenant' | 'actor' | 'role' | 'mode' | 'deliverables'>
}

async function serveOverStdio(places: Places, about: Serving): Promise<number> {
  // The standard streams carry the protocol, so nobody can be asked here but the client's own person.
  const files = startFollowing(places)
  const declared = startFollowingTools(places)
  const runtime = await wireRuntime(places, undefined)
  const following = [files.follow(runtime), declared.follow(runtime)]
  const { serveStdio } = await import('../../server/serve-stdio.ts')
  const stop = listenForStop()
  try {
    await checkCaller(runtime, about)
    const server = serveStdio({ runtime, ...about })
    await Promise.race([server.closed, whenAborted(stop.signal)])
    await server.close()
    return exitCodes.ok
  } finally {
    for (const each of following) each.close()
    await runtime.close()
    stop.release()
  }
}

async function serveOverHttp(places: Places, about: Serving & { port: number }): Promise<number> {
  const stop = listenForStop()
  const approve = createTerminalApprover(() => stop.stop())
  const files = startFollowing(places)
  const declared = startFollowingTools(places)
  const { createMetrics } = await import('../../telemetry/create-metrics.ts')
  const metrics = createMetrics()
  const runtime = await wireRuntime(places, approve, { observers: [metrics.observer] })
  const following = [files.follow(runtime), declared.follow(runtime)]
  const { serveHttp } = await import('../../server/serve-http.ts')
  try {
    await checkCaller(runtime, about)
    const server = await serveHttp({ runtime, metrics, ...about, ...(approve !== undefined && { approve }) })
    process.stdout.write(
      describe(runtime, { url: server.url, canAsk: approve !== undefined, session: about.session }),
    )
    await whenAborted(stop.signal)
    process.stdout.write('\nhandrail: stopping\n')
    await server.close()
    return exitCodes.ok
  } finally {
    for (const each of following) each.close()
    await runtime.close()
    stop.release()
  }
}

/** Sessions are opened when clients come; one that cannot be is a fault of the start. */
async function checkCaller(runtime: Runtime, { session }: Serving): Promise<void> {
  await runtime.session(session).close()
}

function describe(
  runtime: Runtime,
  { url, canAsk, session }: { url: string; canAsk: boolean } & Pick<Serving, 'session'>,
): string {
  return `handrail serves MCP at ${url}

  project    ${runtime.project}
  tools      ${runtime.session(session).tools().length} (handrail tools)
  store      ${runtime.store.description}, ${countRecords(runtime)} records
  sandbox    ${runtime.sandbox}
  metrics    ${new URL('/metrics', url).href}
  approvals  ${canAsk ? 'asked through the client where it can, else at this terminal' : 'asked through the client where it can, else denied'}

  Connect a client:
    Claude Code    claude mcp add --transport http handrail ${url}
    any client     {"mcpServers": {"handrail": {"type": "http", "url": "${url}"}}}
    over stdio     npx handrail serve --stdio --project ${runtime.project}

  Ctrl-C stops.
`
}

function countRecords({ store }: Runtime): number {
  return store.tenants().reduce((count, tenant) => count + (store.head(tenant)?.sequence ?? 0), 0)
}

function readPort({ options }: CommandLine): number {
  const text = options['port'] ?? readEnvironment('HANDRAIL_PORT')
  if (text === undefined) return defaultPort
  const port = Number(text)
  if (!/^\d+$/.test(String(text)) || port > 65_535) {
    throw new UsageError(
      `The port is "${String(text)}"; it must be a whole number from 0 to 65535 (--port or HANDRAIL_PORT).`,
    )
  }
  return port
}
