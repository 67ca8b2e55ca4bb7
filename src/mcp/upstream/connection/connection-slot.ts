import type { Connection } from './open-connection.ts'
import { watchHealth, type Health } from './watch-health.ts'

/** Holds the one connection that is open, or is being opened. */
export interface ConnectionSlot {
  readonly current: Connection | undefined
  readonly isOpening: boolean
  /** The connection that is held, or another one. Rejects as its opening does. */
  open(): Promise<Connection>
  /** Opens a connection if none is held. Never rejects. */
  retry(): Promise<void>
  /** Looks whether the server still answers. */
  look(): void
  /** Leaves a connection, and opens another one if it was held. */
  drop(connection: Connection): void
  /** Opens another connection in place of the one that is held, or is being opened. */
  renew(): void
  close(): Promise<void>
}

export interface ConnectionSlotOptions {
  readonly connect: () => Promise<Connection>
  /** Called when a connection is held. */
  readonly onOpen: (connection: Connection) => void
  /** Called when the connection that was held ended by itself. */
  readonly onLost: () => void
  /** Once it is aborted, no other connection is opened. */
  readonly signal: AbortSignal
}

export function createConnectionSlot({
  connect,
  onOpen,
  onLost,
  signal,
}: ConnectionSlotOptions): ConnectionSlot {
  let opening: Promise<Connection> | undefined
  let current: Connection | undefined
  let health: Health | undefined

  const watch = (connection: Connection): void => {
    const watched = watchHealth(connection, () => {
      if (current === connection) slot.drop(connection)
    })
    health = watched
    const onEnd = (): void => {
      watched.stop()
      if (current !== connection) return
      current = undefined
      onLost()
    }
    connection.ended.addEventListener('abort', onEnd, { once: true })
    if (connection.ended.aborted) onEnd()
  }
  /** How often the connection was to be another one. */
  let renewals = 0
  const fill = async (): Promise<Connection> => {
    const before = renewals
    const opened = await connect().catch((error: unknown) => {
      if (before === renewals || signal.aborted) throw error
    })
    if (opened === undefined || (before !== renewals && !signal.aborted)) {
      void opened?.close().catch(() => {})
      return fill()
    }
    return hold(opened)
  }
  const hold = (connection: Connection): Connection => {
    current = connection
    onOpen(connection)
    watch(connection)
    return connection
  }
  const slot: ConnectionSlot = {
    get current() {
      return current
    },
    get isOpening() {
      return opening !== undefined
    },
    open() {
      if (current !== undefined) return Promise.resolve(current)
      return (opening ??= fill().finally(() => (opening = undefined)))
    },
    async retry() {
      if (!signal.aborted) await slot.open().catch(() => {})
    },
    look() {
      if (current !== undefined) health?.look()
    },
    drop(connection) {
      const isCurrent = current === connection
      if (isCurrent) current = undefined
      void connection.close().catch(() => {})
      if (isCurrent) void slot.retry()
    },
    renew() {
      renewals++
      if (current !== undefined) slot.drop(current)
    },
    async close() {
      const connection = current ?? (await opening?.catch(() => undefined))
      current = undefined
      await connection?.close().catch(() => {})
    },
  }
  return slot
}
