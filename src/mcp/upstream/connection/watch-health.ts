import { isAnswer } from '../base/to-call-failure.ts'
import type { Connection } from './open-connection.ts'

/** How often an open connection is looked at. */
const healthMs = 30_000
const pingMs = 10_000

export interface Health {
  /** Looks now. Does nothing while a look is under way. */
  look(): void
  stop(): void
}

/** Looks at a connection now and then. `onSilent` is called when its server does not even answer a ping. */
export function watchHealth({ client, era }: Connection, onSilent: () => void): Health {
  let looking = false
  const ping = async (): Promise<void> => {
    looking = true
    const options = { timeout: pingMs }
    try {
      await (era === 'modern' ? client.discover(options) : client.ping(options))
    } catch (error) {
      if (!isAnswer(error)) onSilent()
    } finally {
      looking = false
    }
  }
  const look = (): void => {
    if (!looking) void ping()
  }
  const timer = setInterval(look, healthMs).unref()
  return { look, stop: () => clearInterval(timer) }
}
