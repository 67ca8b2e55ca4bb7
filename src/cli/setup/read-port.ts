import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'
import { readEnvironment } from './wire.ts'

/** Where `handrail serve` listens if nothing says otherwise. */
export const defaultPort = 7420

/** The port that `--port` or `HANDRAIL_PORT` names; undefined if neither does. */
export function readPort({ options }: CommandLine): number | undefined {
  const text = options['port'] ?? readEnvironment('HANDRAIL_PORT')
  if (text === undefined) return undefined
  const port = Number(text)
  if (!/^\d+$/.test(String(text)) || port > 65_535) {
    throw new UsageError(
      `The port is "${String(text)}"; it must be a whole number from 0 to 65535 (--port or HANDRAIL_PORT).`,
    )
  }
  return port
}
