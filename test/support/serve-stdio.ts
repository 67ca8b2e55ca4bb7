import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { environmentOf, program, type Place } from './command-line.ts'
import { startKept, type KeptRun } from './kept-commands.ts'

const argvOf = (place: Place, options: readonly string[]): string[] => [
  'serve',
  '--stdio',
  '--project',
  place.project,
  ...options,
]

/** A way for a client to a `handrail serve --stdio` of its own, for the project of this place; of another user, if root says so. */
export function toServer(place: Place, options: readonly string[] = [], user?: number): Transport {
  const argv = argvOf(place, options)
  const about = { argv, cwd: process.cwd(), env: environmentOf(place), ...(user !== undefined && { user }) }
  const run = startKept(about)
  return run === undefined ? toOwnServer(place, { options, user }) : toKept(run)
}

/** The same, in a process that is started for it, with these variables besides. */
export function toOwnServer(place: Place, { options = [], user, env }: OwnServer = {}): StdioClientTransport {
  const serve = [process.execPath, program, ...argvOf(place, options)]
  const [command = '', ...args] =
    user === undefined ? serve : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...serve]
  return new StdioClientTransport({
    command,
    args,
    env: { ...environmentOf(place), ...env },
    stderr: 'ignore',
  })
}

interface OwnServer {
  readonly options?: readonly string[]
  readonly user?: number | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** Messages as lines of a command's standard streams. */
function toKept(starting: Promise<KeptRun>): Transport {
  let rest = ''
  const take = (transport: Transport, text: string): void => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage)
  }
  const transport: Transport = {
    async start() {
      const run = await starting
      run.onOutput = (to, text) => {
        if (to === 'stdout') take(transport, text)
      }
      run.ended.then(
        () => transport.onclose?.(),
        () => transport.onclose?.(),
      )
    },
    async send(message) {
      ;(await starting).type(`${JSON.stringify(message)}\n`)
    },
    async close() {
      const run = await starting
      run.endInput()
      await run.ended
    },
  }
  return transport
}
