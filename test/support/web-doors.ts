import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createRuntime, resultText, webTools, type RuntimeOptions } from 'handrail'
import { describe, onTestFinished } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { makeFolder } from './project.ts'
import { firstOf } from './rounds.ts'

/** What came back, as far as every door can tell it. */
export interface WebAnswer {
  ok: boolean
  /** `CODE reason`, or `ok`. */
  outcome: string
  text: string
}

/** A program with web tools, in front of it one session. */
export interface WebDoor {
  call(tool: string, input: object): Promise<WebAnswer>
  fetch(url: string, more?: object): Promise<WebAnswer>
}

type OpenDoor = (options?: RuntimeOptions) => Promise<WebDoor>

/** Everything may be reached as far as the policy goes, so that what is refused is refused by the guard. */
const open: RuntimeOptions = { policy: { network: { default: 'allow' } } }

async function start(options: RuntimeOptions) {
  const runtime = await createRuntime({
    project: makeFolder(),
    home: makeFolder(),
    tools: [webTools()],
    ...open,
    ...options,
  })
  onTestFinished(() => runtime.close())
  return runtime
}

function toDoor(call: WebDoor['call']): WebDoor {
  return { call, fetch: (url, more = {}) => call('web.fetch', { url, ...more }) }
}

const library: OpenDoor = async (options = {}) => {
  const session = (await start(options)).session()
  return toDoor(async (tool, input) => {
    const result = await session.call(tool, input)
    const { error } = result
    const outcome = error === undefined ? 'ok' : `${error.code} ${error.reason}`
    return { ok: result.ok, outcome, text: resultText(result) }
  })
}

const mcp: OpenDoor = async (options = {}) => {
  const server = await serveHttp({
    runtime: await start(options),
    port: 0,
    closeGraceMs: 100,
    log: () => {},
  })
  onTestFinished(() => server.close())
  const client = createClient({ era: 'modern' })
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  onTestFinished(() => client.close())
  return toDoor(async (tool, input) => {
    const { content, isError } = await client.callTool({
      name: tool.replaceAll('.', '__'),
      arguments: { ...input },
    })
    const text = content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
    const [, code, reason] = /([A-Z]+\.[A-Z_]+) \(([a-z_]+)\)/.exec(text) ?? []
    return { ok: isError !== true, outcome: isError === true ? `${code} ${reason}` : 'ok', text }
  })
}

/** The ways to the web tools of one program. */
export const webDoors: readonly (readonly [name: string, open: OpenDoor])[] = [
  ['the library', library],
  ['MCP', mcp],
]

/** The same tests at every door; `npm test` tries one. */
export function atWebDoors(tests: (openDoor: OpenDoor) => void): void {
  describe.each(firstOf(webDoors))('through %s', (_name, openDoor) => tests(openDoor))
}

/** A world outside: names and their addresses. */
export function namesOf(
  names: Readonly<Record<string, readonly string[]>>,
): NonNullable<RuntimeOptions['lookup']> {
  return async (host) => names[host] ?? []
}
