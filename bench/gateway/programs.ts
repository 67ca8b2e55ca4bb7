import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const bench = fileURLToPath(new URL('..', import.meta.url))
const upstreamScript = fileURLToPath(new URL('upstream.ts', import.meta.url))
const proxyScript = fileURLToPath(new URL('proxy.ts', import.meta.url))

/** A program that is started. */
export interface Started {
  readonly child: ChildProcess
  /** What it said first on its standard output that fits. */
  readonly said: string
  end(): Promise<void>
}

/** How to start a program. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Added to the variables of the bench. Default: none. */
  readonly env?: Readonly<Record<string, string>>
}

/** The server behind a gateway on its standard streams, as everybody starts it. */
export function stdioUpstream(...options: readonly string[]): Program {
  return { command: process.execPath, args: [upstreamScript, 'stdio', ...options] }
}

/** Starts the server behind a gateway on HTTP; `url` is the first of its servers. */
export async function startUpstream(...options: readonly string[]): Promise<Started & { url: string }> {
  const started = await startProgram({
    command: process.execPath,
    args: [upstreamScript, 'http', ...options],
  })
  return { ...started, url: `http://127.0.0.1:${started.said}/0` }
}

/** The bare proxy on its standard streams. */
export function stdioProxy(...args: readonly string[]): Program {
  return { command: process.execPath, args: [proxyScript, 'stdio', ...args] }
}

/** Starts the bare proxy on HTTP. */
export async function startProxy(...args: readonly string[]): Promise<Started & { url: string }> {
  const started = await startProgram({ command: process.execPath, args: [proxyScript, 'http', ...args] })
  return { ...started, url: `http://127.0.0.1:${started.said}/mcp` }
}

/** A project and a home with these servers, whose tools the operator lets everybody call. */
export function layHome(directory: string, servers: Readonly<Record<string, object>>): void {
  const write = (name: string, content: object) =>
    writeFileSync(join(directory, 'home', name), JSON.stringify(content))
  mkdirSync(join(directory, 'project'), { recursive: true })
  mkdirSync(join(directory, 'home'), { recursive: true })
  write('mcp.json', { mcpServers: servers })
  write('policy.json', { rules: [{ effect: 'allow', tools: ['mcp.*'] }] })
  // Where root runs the bench, the servers are somebody else, who has to see the project.
  chmodSync(directory, 0o755)
}

/** A server on its standard streams as `mcp.json` names it; it sees the bench, and writes to these folders. */
export function toServer({ command, args }: Program, write: readonly string[] = []): object {
  return { command, args, read: [bench], write }
}

/** `handrail serve` as it is installed, with its evidence in SQLite on the disk. */
export function gateway(directory: string, ...options: readonly string[]): Program {
  const installed = process.env.HANDRAIL_INSTALLED
  if (installed === undefined) throw new Error('HANDRAIL_INSTALLED names no directory; start bench/run.mjs')
  const program = join(installed, 'node_modules', 'handrail', 'bin', 'handrail.cjs')
  const places = ['--project', join(directory, 'project'), '--home', join(directory, 'home')]
  return { command: process.execPath, args: [program, 'serve', ...places, ...options] }
}

/** Starts `handrail serve` on HTTP. */
export async function startGateway(directory: string): Promise<Started & { url: string }> {
  const started = await startProgram(gateway(directory, '--port', '0'), /MCP at (\S+)/)
  return { ...started, url: started.said }
}

/** Starts a program and waits until it says something that fits. Rejects where it ends before that. */
export async function startProgram({ command, args, env }: Program, wanted = /(.+)/): Promise<Started> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  // Where the bench itself fails, nobody else ends it.
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let complaint = ''
  child.stderr.on('data', (bytes: Buffer) => (complaint = `${complaint}${bytes.toString()}`.slice(-2_000)))
  const said = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = wanted.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(complaint || `${args[0] ?? command} ended with ${code}`)))
  })
  return {
    child,
    said,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
