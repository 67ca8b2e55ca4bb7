import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram, type Program, type Started } from './programs.ts'

const onlyLoopback = fileURLToPath(new URL('only-loopback.mjs', import.meta.url))

/** Another gateway, started. */
export type StartedPeer = Started & { url: string }

/** `mcp-hub` in front of these servers. It speaks the SSE transport alone, and asks the web for a catalog at each start, which it does not get here. */
export async function startHub(
  directory: string,
  servers: Readonly<Record<string, object>>,
): Promise<StartedPeer> {
  const config = join(directory, 'hub.json')
  writeFileSync(config, JSON.stringify({ mcpServers: servers }))
  const before = ['--import', onlyLoopback]
  // Without a PATH it finds no curl, which it tries next.
  const env = { HOME: directory, XDG_STATE_HOME: directory, PATH: '' }
  return startOnPort(
    (port) => ({
      command: process.execPath,
      args: [...before, scriptOf('mcp-hub'), '--port', port, '--config', config],
      env,
    }),
    /(\d+) servers started successfully/,
  )
}

/** `mcp-proxy` in front of a server on its standard streams. */
export function startMcpProxy({ command, args }: Program): Promise<StartedPeer> {
  const options = ['--host', '127.0.0.1', '--server', 'stream']
  return startOnPort(
    (port) => ({
      command: process.execPath,
      args: [scriptOf('mcp-proxy'), ...options, '--port', port, '--', command, ...args],
    }),
    /starting server on port (\d+)/,
  )
}

/** `supergateway` in front of a server on its standard streams. */
export function startSupergateway({ command, args }: Program): Promise<StartedPeer> {
  const options = ['--outputTransport', 'streamableHttp', '--stateful']
  return startOnPort(
    (port) => ({
      command: process.execPath,
      args: [scriptOf('supergateway'), '--stdio', [command, ...args].join(' '), ...options, '--port', port],
    }),
    /Listening on port (\d+)/,
  )
}

/** The program of an installed package. */
function scriptOf(name: string): string {
  const manifest = join(fileURLToPath(new URL('../node_modules/', import.meta.url)), name, 'package.json')
  const { bin }: { bin: Readonly<Record<string, string>> } = createRequire(import.meta.url)(manifest)
  return join(dirname(manifest), bin[name] ?? '')
}

async function startOnPort(toProgram: (port: string) => Program, ready: RegExp): Promise<StartedPeer> {
  const port = String(await findPort())
  const started = await startProgram(toProgram(port), ready)
  return { ...started, url: `http://127.0.0.1:${port}/mcp` }
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      // Listening on a port, so it is no path.
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
