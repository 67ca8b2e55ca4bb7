import type { DirectClient } from '../../../contract/mcp/direct-connection.ts'
import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import type { Packages } from '../../packages/open-packages.ts'
import { findDataFolder } from '../base/data-folder.ts'
import { findPackage } from '../base/find-package.ts'
import type { Attempt } from '../base/find-remedy.ts'
import { createServerLog, type ServerLog } from '../base/server-log.ts'
import { toSourceName } from '../base/tool-names.ts'
import type { Login } from '../login/create-login.ts'
import {
  listAll,
  openConnection,
  type Connection,
  type ConnectionOptions,
  type Era,
} from './open-connection.ts'

/** Opens connections to a server for a tenant, and reports the tools of the server. */
export interface Dialer {
  /** Opens a connection whose server has reported its tools. */
  dial(): Promise<Connection>
  /** What the last try went by. */
  attempt(): Attempt
  /** What the server said in the last try beside the protocol. */
  log(): ServerLog
}

export interface DialerOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Whose connections they are. */
  readonly tenant: string
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Undefined: the command of a program fetches what it runs, if it does. */
  readonly packages: Packages | undefined
  /** The one client that it is for. Undefined: it is for all calls of the tenant. */
  readonly end?: DirectClient
  /** Undefined: no login. */
  readonly login: Login | undefined
  /** Answers what the server asks. The server receives a rejection as an error. */
  readonly answer: ConnectionOptions['answer']
  /** Called with all tools of the server whenever the server reported them. The promise is awaited. */
  readonly onTools: (raw: readonly unknown[]) => Promise<void>
  /** Called when the server has other resources. */
  readonly onResourcesChanged?: () => void
}

/** The connection that is in use, and what dialing has to know of it. */
interface InUse {
  readonly current: () => Connection | undefined
  /** Called when the open connection may be gone. */
  readonly onTrouble: () => void
  /** Ends what is being opened. */
  readonly signal: AbortSignal
}

const connectMs = 30_000
const listMs = 30_000
/** More tools of one server are left out. */
const maxTools = 5_000
/** A server that reports that its tools changed is asked again no sooner. */
const relistMs = 1_000

export function createDialer(options: DialerOptions, { current, onTrouble, signal }: InUse): Dialer {
  const { server, host } = options
  const source = toSourceName(server.name)
  const redact = (text: string): string => host.redact(text)
  let log = createServerLog(redact)
  let era: Era | undefined
  let relisting: NodeJS.Timeout | undefined
  /** How many lists are under way. */
  let listing = 0
  /** Whether the server reported that its tools changed while it was asked for them: what it answers may be older. */
  let isStale = false
  signal.addEventListener('abort', () => clearTimeout(relisting), { once: true })

  const list = async (connection: Connection): Promise<void> => {
    const wanted = { method: 'tools/list', field: 'tools', most: maxTools, timeoutMs: listMs }
    listing++
    try {
      const raw = await listAll(connection, wanted)
      if (raw.length >= maxTools)
        host.report(source, `It has ${maxTools} tools or more; those after them are left out.`)
      await options.onTools(raw)
    } finally {
      if (--listing === 0 && isStale) listSoon()
    }
  }
  const listSoon = (): void => {
    isStale = false
    relisting ??= setTimeout(() => void listAgain(), relistMs).unref()
  }
  const listAgain = async (): Promise<void> => {
    relisting = undefined
    // One list at a time, so that an old one does not come after a new one.
    if (listing > 0) return void (isStale = true)
    const connection = current()
    if (connection === undefined) return
    await list(connection).catch((error: unknown) =>
      host.report(source, `Its tools could not be listed anew: ${messageOf(error)}`),
    )
  }
  return {
    async dial() {
      const connection = await openConnection({
        ...options,
        era,
        timeoutMs: server.connectMs ?? connectMs,
        onTrouble,
        signal,
        onListChanged: listSoon,
        newLog: () => (log = createServerLog(redact)),
      })
      try {
        await list(connection)
        if (signal.aborted) throw new Error('Handrail is stopping.')
        connection.ended.throwIfAborted()
        era = connection.era
        return connection
      } catch (error) {
        await connection.close().catch(() => {})
        throw error
      }
    },
    attempt: () => ({ server, log, roots: rootsOf(options), fetches: options.packages !== undefined }),
    log: () => log,
  }
}

/** The folders that the program of a server sees. */
function rootsOf({ server, host, tenant, folder, packages }: DialerOptions): readonly string[] {
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
