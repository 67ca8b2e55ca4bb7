import type { ToolFailure } from '../../../contract/base/errors.ts'
import type { DirectClient } from '../../../contract/mcp/direct-connection.ts'
import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import type { Packages } from '../../packages/open-packages.ts'
import { createBackOff } from './back-off.ts'
import { findDataFolder } from '../base/data-folder.ts'
import { findPackage } from '../base/find-package.ts'
import {
  listAll,
  openConnection,
  type Connection,
  type ConnectionOptions,
  type Era,
} from './open-connection.ts'
import { explainFault, type ConnectionFault } from '../base/explain-fault.ts'
import { findFlaw, findRemedy, type Attempt } from '../base/find-remedy.ts'
import type { Login } from '../login/create-login.ts'
import { LoginNeeded } from '../base/login-needed.ts'
import { withLogin } from '../login/with-login.ts'
import { createServerLog } from '../base/server-log.ts'
import { isAnswer, toDownFailure } from '../base/to-call-failure.ts'
import { toSourceName } from '../base/tool-names.ts'
import type { ConnectionState } from '../base/upstream.ts'
import { messageOf } from '../../../kit/text/message-of.ts'

/** One tenant's way to one server. It is opened when it is needed, kept, and opened again when it was lost. */
export interface ManagedConnection {
  /** Undefined: no login. */
  readonly login: Login | undefined
  /** The open connection, whose server has told its tools. Rejects with a `ToolFailure` where there is none. */
  open(): Promise<Connection>
  /** Why a call need not set out: the server could not be connected to, or was lost just now. Undefined if it may. */
  refusal(): ToolFailure | undefined
  /** The server answers another connection: it is tried now, however long it was to be left alone. Never rejects. */
  wake(): Promise<void>
  /** Leaves the connection that there is, if any, and opens another one. */
  restart(): void
  /** Leaves a connection that is of no use any more, and opens another one. */
  drop(connection: Connection): void
  describe(): ConnectionState
  close(): Promise<void>
}

export interface ManagedConnectionOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Whose way it is. */
  readonly tenant: string
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Undefined: the command of a program fetches what it runs, if it does. */
  readonly packages: Packages | undefined
  /** The one client that it is for. Undefined: it is for all calls of the tenant. */
  readonly end?: DirectClient
  /** Undefined: no login. */
  readonly login: Login | undefined
  /** Answers what the server asks; a rejection is told to it. */
  readonly answer: ConnectionOptions['answer']
  /** Told of all tools of the server, whenever the server reported them. What this returns is awaited. */
  readonly onTools: (raw: readonly unknown[]) => Promise<void>
  /** Told that the server has other resources. */
  readonly onResourcesChanged?: () => void
  /** Told why the server could not be connected to, and with nothing once it could be. */
  readonly onOutage?: (fault: ConnectionFault | undefined) => void
}

const connectMs = 30_000
const listMs = 30_000
/** More tools of one server are left out. */
const maxTools = 5_000
/** A server that says that its tools changed is asked again no sooner. */
const relistMs = 1_000
/** How often an open connection is looked at. */
const healthMs = 30_000
const pingMs = 10_000

/** A managed connection that is not open yet. */
export function createManagedConnection(options: ManagedConnectionOptions): ManagedConnection {
  const { server, host, tenant } = options
  const source = toSourceName(server.name)
  const backOff = createBackOff()
  const redact = (text: string): string => host.redact(text)
  let log = createServerLog(redact)
  const newLog = () => (log = createServerLog(redact))
  /** Its log is so already. */
  const redacted = (found: ConnectionFault): ConnectionFault => ({ ...found, message: redact(found.message) })
  let opening: Promise<Connection> | undefined
  let current: Connection | undefined
  let era: Era | undefined
  let fault: Fault | undefined
  const closing = new AbortController()
  let again: NodeJS.Timeout | undefined
  let relisting: NodeJS.Timeout | undefined
  let looking = false
  let stopAwaiting = (): void => {}

  const list = async (connection: Connection): Promise<void> => {
    const raw = await listAll(connection, {
      method: 'tools/list',
      field: 'tools',
      most: maxTools,
      timeoutMs: listMs,
    })
    if (raw.length >= maxTools)
      host.report(source, `It has ${maxTools} tools or more; those after them are left out.`)
    await options.onTools(raw)
  }
  const about = (): Attempt => ({
    server,
    log,
    roots: rootsOf(options),
    fetches: options.packages !== undefined,
  })
  const tryLater = (): void => {
    if (closing.signal.aborted) return
    clearTimeout(again)
    again = setTimeout(retry, backOff.waitMs())
    again.unref()
  }
  const failed = (error: unknown): ToolFailure => {
    fault = { ...redacted(explainFault(error, about())), cause: error }
    backOff.failed()
    tryLater()
    if (!closing.signal.aborted) options.onOutage?.(fault)
    if (!closing.signal.aborted && error instanceof LoginNeeded)
      stopAwaiting = options.login?.watch(() => void managed.open().catch(() => {})) ?? stopAwaiting
    return toDownFailure(server.name, new Error(fault.message, { cause: error }), backOff.waitMs())
  }
  const dial = async (): Promise<Connection> => {
    let connection: Connection | undefined
    try {
      connection = await openConnection({
        server,
        host,
        tenant,
        folder: options.folder,
        packages: options.packages,
        era,
        login: options.login,
        end: options.end,
        answer: options.answer,
        timeoutMs: server.connectMs ?? connectMs,
        onTrouble: () => current !== undefined && void look(current),
        signal: closing.signal,
        onListChanged: () => relist(),
        onResourcesChanged: options.onResourcesChanged,
        newLog,
      })
      await list(connection)
      if (closing.signal.aborted) throw new Error('Handrail is stopping.')
      connection.ended.throwIfAborted()
      return connection
    } catch (error) {
      await connection?.close().catch(() => {})
      throw error
    }
  }
  const connect = async (): Promise<Connection> => {
    stopAwaiting()
    const connection = await withLogin(options.login, dial).catch((error: unknown) => {
      throw failed(error)
    })
    current = connection
    era = connection.era
    fault = undefined
    backOff.succeeded()
    options.onOutage?.(undefined)
    watch(connection)
    return connection
  }
  const watch = (connection: Connection): void => {
    const health = setInterval(() => void look(connection), healthMs)
    health.unref()
    const onEnd = (): void => {
      clearInterval(health)
      if (current !== connection) return
      current = undefined
      fault = {
        message: log.ended ?? 'The connection to it was lost.',
        remedy: undefined,
        log: log.read(),
        telling: log.readTelling(1),
        cause: undefined,
      }
      if (!closing.signal.aborted) host.report(source, toLossReport(fault))
      backOff.failed()
      tryLater()
    }
    connection.ended.addEventListener('abort', onEnd, { once: true })
    if (connection.ended.aborted) onEnd()
  }
  /** A server that does not even answer this does not answer anything. */
  const look = async (connection: Connection): Promise<void> => {
    if (looking) return
    looking = true
    const { client, era: spoken } = connection
    const options = { timeout: pingMs }
    try {
      await (spoken === 'modern' ? client.discover(options) : client.ping(options))
    } catch (error) {
      if (current === connection && !isAnswer(error)) managed.drop(connection)
    } finally {
      looking = false
    }
  }
  const relist = (): void => {
    if (relisting !== undefined) return
    relisting = setTimeout(() => {
      relisting = undefined
      if (current === undefined) return
      list(current).catch((error: unknown) =>
        host.report(source, `Its tools could not be listed anew: ${messageOf(error)}`),
      )
    }, relistMs)
    relisting.unref()
  }
  const attempt = (): Promise<Connection> => {
    if (current !== undefined) return Promise.resolve(current)
    return (opening ??= connect().finally(() => (opening = undefined)))
  }
  /** However long it was to be left alone. Where it fails, it is tried again by itself. */
  const retry = (): void => {
    if (!closing.signal.aborted) void attempt().catch(() => {})
  }
  /** Also for one that is not known to have failed, and may never answer. */
  const findAdvice = (): string | undefined =>
    opening !== undefined && server.transport.kind === 'stdio'
      ? findRemedy(about(), server.transport)
      : findFlaw(about())
  const managed: ManagedConnection = {
    login: options.login,
    async open() {
      if (current !== undefined) return current
      if (opening !== undefined) return opening
      if (closing.signal.aborted) throw toDownFailure(server.name, new Error('Handrail is stopping.'), 0)
      const refused = managed.refusal()
      if (refused !== undefined) throw refused
      return attempt()
    },
    refusal() {
      const isMended = fault?.cause instanceof LoginNeeded && options.login?.isNew() === true
      if (isMended || current !== undefined || fault === undefined) return undefined
      const waitMs = backOff.waitMs()
      // One that was only lost is worth waiting for while it is opened anew.
      if (fault.cause === undefined && (waitMs === 0 || opening !== undefined)) return undefined
      return toDownFailure(server.name, new Error(fault.message, { cause: fault.cause }), waitMs)
    },
    async wake() {
      if (fault !== undefined && !closing.signal.aborted) await attempt().catch(() => {})
    },
    restart() {
      if (current !== undefined) managed.drop(current)
    },
    drop(connection) {
      const isCurrent = current === connection
      if (isCurrent) current = undefined
      void connection.close().catch(() => {})
      if (isCurrent) retry()
    },
    describe: () => ({
      state: closing.signal.aborted
        ? 'closed'
        : current !== undefined
          ? 'open'
          : opening !== undefined
            ? 'connecting'
            : fault !== undefined
              ? 'failed'
              : 'idle',
      revision: current?.version,
      fault: fault?.message,
      remedy: fault === undefined ? findAdvice() : fault.remedy,
      log: fault?.log ?? log.read(),
    }),
    async close() {
      closing.abort()
      clearTimeout(again)
      clearTimeout(relisting)
      stopAwaiting()
      const connection = current ?? (await opening?.catch(() => undefined))
      current = undefined
      await connection?.close().catch(() => {})
    },
  }
  return managed
}

/** It may come back before anybody misses it. */
function toLossReport({ message, telling }: Fault): string {
  const news = telling.filter((line) => line !== message)
  const said = news.length === 0 ? [] : [`It said: ${news.join(' ')}`]
  return [message, 'It is connected to again.', ...said].join(' ')
}

interface Fault extends ConnectionFault {
  readonly cause: unknown
}

/** The folders that the program of a server sees. */
function rootsOf({ server, host, tenant, folder, packages }: ManagedConnectionOptions): readonly string[] {
  const { transport } = server
  if (transport.kind === 'http') return []
  const { cwd, read, write } = transport
  const wanted = findPackage(server)
  const own = [
    findDataFolder({ server, host, tenant, folder }),
    wanted && packages?.folderOf(wanted.command, tenant),
  ]
  return [...host.programs.seenBy({ tenant, cwd, read, write }), ...own.filter((each) => each !== undefined)]
}
