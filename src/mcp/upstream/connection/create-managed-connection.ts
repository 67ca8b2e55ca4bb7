import type { ToolFailure } from '../../../contract/base/errors.ts'
import { explainFault, type ConnectionFault } from '../base/explain-fault.ts'
import { findFlaw, findRemedy, findWants } from '../base/find-remedy.ts'
import { LoginNeeded } from '../base/login-needed.ts'
import type { ServerLog } from '../base/server-log.ts'
import { toDownFailure } from '../base/to-call-failure.ts'
import { toSourceName } from '../base/tool-names.ts'
import type { ConnectionState } from '../base/upstream.ts'
import type { Login } from '../login/create-login.ts'
import { withLogin } from '../login/with-login.ts'
import { createConnectionFaults, type CausedFault, type ConnectionFaults } from './connection-faults.ts'
import { createConnectionSlot, type ConnectionSlot } from './connection-slot.ts'
import { createDialer, type Dialer, type DialerOptions } from './dialer.ts'
import type { Connection } from './open-connection.ts'

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
  /** Opens another connection in place of the one that there is, is being opened, or failed. */
  restart(): void
  /** Leaves a connection that is of no use any more, and opens another one. */
  drop(connection: Connection): void
  describe(): ConnectionState
  close(): Promise<void>
}

export interface ManagedConnectionOptions extends DialerOptions {
  /** Called with why the server could not be connected to, and with nothing once it could be. */
  readonly onOutage?: (fault: ConnectionFault | undefined) => void
}

/** A managed connection that is not open yet. */
export function createManagedConnection(options: ManagedConnectionOptions): ManagedConnection {
  const { server, host, login } = options
  const closing = new AbortController()
  const { signal } = closing
  let stopAwaiting = (): void => {}
  const dialer = createDialer(options, {
    current: () => slot.current,
    onTrouble: () => slot.look(),
    signal,
  })
  const faults = createConnectionFaults({ server: server.name, retry: () => void slot.retry(), signal })
  const failed = (error: unknown): ToolFailure => {
    const found = explainFault(error, dialer.attempt())
    // Its log is redacted already.
    const fault = { ...found, message: host.redact(found.message), cause: error }
    const failure = faults.note(fault)
    if (signal.aborted) return failure
    options.onOutage?.(fault)
    if (error instanceof LoginNeeded && login !== undefined)
      stopAwaiting = login.watch(() => void managed.open().catch(() => {}))
    return failure
  }
  const slot = createConnectionSlot({
    connect() {
      stopAwaiting()
      return withLogin(login, () => dialer.dial()).catch((error: unknown) => {
        throw failed(error)
      })
    },
    onOpen() {
      faults.clear()
      options.onOutage?.(undefined)
    },
    onLost() {
      const fault = toLoss(dialer.log())
      if (!signal.aborted) host.report(toSourceName(server.name), toLossReport(fault))
      faults.note(fault)
    },
    signal,
  })
  const managed: ManagedConnection = {
    login,
    async open() {
      if (slot.current !== undefined || slot.isOpening) return slot.open()
      if (signal.aborted) throw toDownFailure(server.name, new Error('Handrail is stopping.'), 0)
      const refused = managed.refusal()
      if (refused !== undefined) throw refused
      return slot.open()
    },
    refusal() {
      const isMended = faults.current?.cause instanceof LoginNeeded && login?.isNew() === true
      return isMended || slot.current !== undefined ? undefined : faults.refusal(slot.isOpening)
    },
    async wake() {
      if (faults.current !== undefined) await slot.retry()
    },
    restart() {
      slot.renew()
      void managed.wake()
    },
    drop: (connection) => slot.drop(connection),
    describe: () => describe(dialer, { slot, faults, isClosed: signal.aborted }),
    async close() {
      closing.abort()
      stopAwaiting()
      await slot.close()
    },
  }
  return managed
}

interface Parts {
  readonly slot: ConnectionSlot
  readonly faults: ConnectionFaults
  readonly isClosed: boolean
}

function describe(dialer: Dialer, { slot, faults, isClosed }: Parts): ConnectionState {
  const fault = faults.current
  return {
    state: stateOf({ slot, faults, isClosed }),
    revision: slot.current?.version,
    fault: fault?.message,
    wantsLogin: fault?.cause instanceof LoginNeeded,
    remedy: fault === undefined ? findAdvice(dialer, slot) : fault.remedy,
    log: fault?.log ?? dialer.log().read(),
    wants: findWants(dialer.attempt()),
    refused: dialer.log().refused,
  }
}

function stateOf({ slot, faults, isClosed }: Parts): ConnectionState['state'] {
  if (isClosed) return 'closed'
  if (slot.current !== undefined) return 'open'
  if (slot.isOpening) return 'connecting'
  return faults.current === undefined ? 'idle' : 'failed'
}

/** Also for a connection that is not known to have failed, and may never answer. */
function findAdvice(dialer: Dialer, { isOpening }: ConnectionSlot): string | undefined {
  const about = dialer.attempt()
  const { transport } = about.server
  return isOpening && transport.kind === 'stdio' ? findRemedy(about, transport) : findFlaw(about)
}

function toLoss(log: ServerLog): CausedFault {
  return {
    message: log.ended ?? 'The connection to it was lost.',
    remedy: undefined,
    log: log.read(),
    keyLines: log.readKeyLines(1),
    cause: undefined,
  }
}

/** The server may come back before a call needs it. */
function toLossReport({ message, keyLines }: CausedFault): string {
  const news = keyLines.filter((line) => line !== message)
  const said = news.length === 0 ? [] : [`It said: ${news.join(' ')}`]
  return [message, 'It is connected to again.', ...said].join(' ')
}
