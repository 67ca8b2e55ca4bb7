import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import type { Runtime, RuntimeOptions } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { makeFolder, openRuntime, personSaying } from './project.ts'

/** A runtime with these servers, who are known by now. Its person says yes once, each time. */
export async function openUpstreams(
  servers: Readonly<Record<string, unknown>>,
  options: RuntimeOptions = {},
): Promise<Runtime> {
  const { approve } = personSaying('allow_once')
  const runtime = await openRuntime({ feeds: [mcpTools({ servers })], approve, ...options })
  await runtime.settled(120_000)
  return runtime
}

const mark = /^<(untrusted-[0-9a-f]{24}) from="([^"]*)">\n[^\n]*data[^\n]*\n\n([^]*)\n<\/\1>$/

/** What stands between the marks of a text, which are others for each text. */
export function unmarked(text: string | undefined): string {
  const match = mark.exec(text ?? '')
  const [, name = '', , inside = ''] = match ?? []
  if (match === null) throw new Error(`This is not marked: ${JSON.stringify(text)}`)
  if (seen.has(name) || inside.includes(name)) throw new Error(`The mark is not new: ${name}`)
  seen.add(name)
  return inside
}

/** Marks that were seen. */
const seen = new Set<string>()

/** What stands between the marks of a block of a result. */
export function said(result: { content: readonly { type: string; text?: string }[] }, index = 0): string {
  return unmarked(result.content[index]?.text)
}

/** A server of ours that does what it is told: see `fixture-server.ts`. */
export function makeFixtureServer(tools: readonly object[] = [fixtureTool('echo')]) {
  const folder = makeFolder()
  const path = join(folder, 'tools.json')
  const script = join(inject('programs'), 'fixture-server.mjs')
  const server = {
    command: process.execPath,
    args: [script, path],
    read: [dirname(script)],
    write: [folder],
    /** What it says it has from now on. */
    list: (now: readonly object[]) => writeFileSync(path, JSON.stringify(now)),
    /** Lets it say what it has only once it may. */
    hold: (isHeld: boolean) =>
      isHeld ? writeFileSync(`${path}.held`, '') : rmSync(`${path}.held`, { force: true }),
    /** Makes it end when it is asked anything before the handshake. */
    strict: () => writeFileSync(`${path}.strict`, ''),
    /** Makes it end as soon as it is started, or run again. */
    break: (isBroken: boolean) =>
      isBroken ? writeFileSync(`${path}.broken`, '') : rmSync(`${path}.broken`, { force: true }),
    /** The methods that it was asked for, by any process. */
    asked: () =>
      existsSync(`${path}.asked`) ? readFileSync(`${path}.asked`, 'utf8').trim().split('\n') : [],
    /** As the file of servers has it. */
    get file() {
      const { command, args, read, write } = server
      return { command, args, read, write }
    },
  }
  server.list(tools)
  return server
}

/** A tool as a server lists it. */
export function fixtureTool(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more }
}
