import { chownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { codeTools, createRuntime, resultText, type Configuration } from 'handrail'
import { describe, onTestFinished } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { environmentOf, makePlace, program, type Place } from './command-line.ts'

/** A project in which commands run, reached in one way. */
export interface Entrance {
  readonly project: string
  /** Runs a program. */
  readonly run: (...argv: string[]) => Promise<Answer>
  readonly call: (tool: string, input: Readonly<Record<string, unknown>>) => Promise<Answer>
}

/** What came back, as far as every entrance can tell it. */
export interface Answer {
  ok: boolean
  code: string | undefined
  reason: string | undefined
  text: string
}

export interface EntranceOptions {
  files?: Readonly<Record<string, string>>
  configuration?: Configuration
  /** Variables of Handrail's own environment. */
  env?: Readonly<Record<string, string>>
}

type Open = (options?: EntranceOptions) => Promise<Entrance>

const isRoot = process.getuid?.() === 0
/** A user without rights and without an entry in the list of users. */
const stranger = 4_242

/**
 * The same tests through the library, through MCP, and, where root runs them, through MCP of a Handrail that an unprivileged user
 * started.
 */
export function atEveryEntrance(tests: (open: Open) => void): void {
  describe.each([
    ['the library', openLibrary],
    ['MCP', (options?: EntranceOptions) => openMcp(options, undefined)],
    ...(isRoot
      ? [['MCP of an unprivileged user', (options?: EntranceOptions) => openMcp(options, stranger)] as const]
      : []),
  ] as const)('through %s', (_name, open) => tests(open))
}

/** A runtime in this process. */
export async function openLibrary({
  files,
  configuration,
  env = {},
}: EntranceOptions = {}): Promise<Entrance> {
  const place = makePlace(files)
  const before = { ...process.env }
  Object.assign(process.env, env)
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools()],
    // The person says yes to everything: what is refused here, the sandbox refuses.
    approve: async () => ({ decision: 'allow_for_session' }),
    ...configuration,
  })
  process.env = before
  onTestFinished(() => runtime.close())
  const session = runtime.session()
  const call = async (tool: string, input: Readonly<Record<string, unknown>>) => {
    const result = await session.call(tool, input)
    return toAnswer(result.ok, resultText(result))
  }
  return toEntrance(place, call)
}

async function openMcp(
  { files, configuration = {}, env = {} }: EntranceOptions = {},
  user: number | undefined,
): Promise<Entrance> {
  const place = makePlace(files, { 'config.json': configuration })
  if (user !== undefined) for (const folder of [place.project, place.user]) giveTo(folder, user)
  const client = createClient({
    era: 'modern',
    onAsk: () => ({ action: 'accept', content: { decision: 'allow_for_session' } }),
  })
  const serve = [process.execPath, program, 'serve', '--stdio', '--project', place.project]
  const [command = '', ...args] =
    user === undefined ? serve : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...serve]
  await client.connect(
    new StdioClientTransport({ command, args, env: { ...environmentOf(place), ...env }, stderr: 'ignore' }),
  )
  onTestFinished(() => client.close())
  return toEntrance(place, async (tool, input) => {
    const result = await client.callTool({ name: tool.replaceAll('.', '__'), arguments: { ...input } })
    const text = result.content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
    return toAnswer(result.isError !== true, text)
  })
}

function giveTo(folder: string, user: number): void {
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, path), user, user)
}

function toEntrance({ project }: Place, call: Entrance['call']): Entrance {
  return { project, call, run: (...argv) => call('code.run_command', { argv }) }
}

function toAnswer(ok: boolean, text: string): Answer {
  const [, code, reason] = /([A-Z]+\.[A-Z_]+) \(([a-z_]+)\)/.exec(text) ?? []
  return { ok, code: ok ? undefined : code, reason: ok ? undefined : reason, text }
}
