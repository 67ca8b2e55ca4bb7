import type { JsonObject } from '../../../contract/base/json.ts'
import type { ManagedConnection } from '../connection/create-managed-connection.ts'
import { withLogin } from '../login/with-login.ts'
import type { Connection } from '../connection/open-connection.ts'
import type { Asker, Questions } from '../base/questions.ts'
import { isLost, isUnknownSession, toCallFailure } from '../base/to-call-failure.ts'

/** A request on its way. */
export interface Sending {
  /** As the operator calls it. */
  readonly server: string
  readonly managed: ManagedConnection
  readonly signal: AbortSignal
  /** Canonical name of the tool that asks, or of the server. */
  readonly tool: string
  /** Looked at once there is a connection; what it throws keeps the request here. */
  readonly guard?: () => void
  /** What may be behind a fault that the server tells. */
  readonly advise?: (texts: readonly string[]) => string
  /** The call that it is sent for, and where its server's questions meanwhile come to. */
  readonly asking?: { readonly asker: Asker; readonly questions: Pick<Questions, 'join' | 'leave'> }
}

/** Sends a request over a connection, which is opened where it is not. Rejects with a `ToolFailure`, or as its signal says. */
export async function sendOver(
  work: (connection: Connection) => Promise<JsonObject>,
  { server, managed, signal, tool, guard, advise, asking }: Sending,
): Promise<JsonObject> {
  let used: Connection | undefined
  try {
    return await withConnection(managed, (connection) => {
      guard?.()
      used = connection
      asking?.questions.join(asking.asker)
      return work(connection)
    })
  } catch (error) {
    if (used === undefined || signal.aborted) throw error
    if (isLost(error)) managed.drop(used)
    throw toCallFailure(error, { server, tool, advise })
  } finally {
    asking?.questions.leave(asking.asker)
  }
}

function withConnection<T>(
  managed: ManagedConnection,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return withLogin(managed.login, () => withSession(managed, work))
}

/** A server that lost its session did nothing of what it was asked, so that it can be asked again. */
async function withSession<T>(
  managed: ManagedConnection,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await managed.open()
  try {
    return await work(connection)
  } catch (error) {
    if (isUnknownSession(error)) {
      managed.drop(connection)
      return work(await managed.open())
    }
    throw error
  }
}
