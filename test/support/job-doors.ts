import {
  codeTools,
  createRuntime,
  jobTools,
  resultText,
  type Configuration,
  type Json,
  type Policy,
} from 'handrail'
import { describe, expect, vi } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { atEnd } from './at-end.ts'
import { makePlace, type Place } from './command-line.ts'
import { firstOf } from './rounds.ts'
import { toServer } from './serve-stdio.ts'

/** What came back, as far as every door can tell it. */
export interface Answer {
  ok: boolean
  reason: string | undefined
  text: string
  data: { readonly [key: string]: Json }
}

/** One session, reached in one way. The person says yes to everything unless `says` is `deny`. */
export interface Door {
  readonly place: Place
  call(tool: string, input: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Names of the tools, as canonical ones. */
  tools(): Promise<string[]>
  /** Ends the session, and what serves it. */
  close(): Promise<void>
}

export interface DoorOptions {
  /** What is in the project. */
  files?: Readonly<Record<string, string>>
  configuration?: Configuration
  policy?: Policy
  says?: 'allow' | 'deny'
}

export type OpenDoor = (options?: DoorOptions) => Promise<Door>

const both = [
  ['the library', openLibrary],
  ['MCP', openMcp],
] as const

/** The same tests through the library and through MCP over standard streams. */
export function atBothDoors(tests: (open: OpenDoor) => void): void {
  describe.each(both)('through %s', (_name, open) => tests(open))
}

/** The same for what is the same behind every door: `npm test` tries one, `npm run test:long` both. */
export function atEitherDoor(tests: (open: OpenDoor) => void): void {
  describe.each(firstOf(both))('through %s', (_name, open) => tests(open))
}

async function openLibrary({ files, configuration = {}, policy, says }: DoorOptions = {}): Promise<Door> {
  const place = makePlace(files)
  const { shell, commands, languageServers, webSearch: _, agents: __, ...options } = configuration
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [codeTools({ shell, commands, languageServers }), jobTools()],
    approve: async () => ({ decision: says === 'deny' ? 'deny' : 'allow_once' }),
    ...options,
    ...(policy !== undefined && { policy }),
  })
  atEnd(() => runtime.close())
  const session = runtime.session()
  return {
    place,
    async call(tool, input) {
      const result = await session.call(tool, input)
      const data = (result.data ?? {}) as Answer['data']
      return { ok: result.ok, reason: result.error?.reason, text: resultText(result), data }
    },
    tools: async () => session.tools().map(({ name }) => name),
    close: () => session.close(),
  }
}

async function openMcp({ files, configuration = {}, policy = {}, says }: DoorOptions = {}): Promise<Door> {
  const place = makePlace(files, { 'config.json': configuration, 'policy.json': policy })
  const client = createClient({
    era: 'modern',
    onAsk: () => ({ action: 'accept', content: { decision: says === 'deny' ? 'deny' : 'allow_once' } }),
  })
  await client.connect(toServer(place))
  atEnd(() => client.close())
  return {
    place,
    async call(tool, input) {
      const asked = { name: tool.replaceAll('.', '__'), arguments: { ...input } }
      const result = await client.callTool(asked, { timeout: 600_000 })
      const text = result.content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
      const ok = result.isError !== true
      const [, reason] = /[A-Z]+\.[A-Z_]+ \(([a-z_]+)\)/.exec(text) ?? []
      return {
        ok,
        reason: ok ? undefined : reason,
        text,
        data: (result.structuredContent ?? {}) as Answer['data'],
      }
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name.replaceAll('__', '.')),
    close: () => client.close(),
  }
}

/** Starts a command in the background and gives the id of its job. */
export async function startJob(door: Door, ...argv: string[]): Promise<string> {
  const { ok, text, data } = await door.call('code.run_command', { argv, background: true })
  expect([ok, text]).toEqual([true, expect.stringContaining('job')])
  return data['job'] as string
}

/** The output of a job, once it has this in it. */
export async function outputWith(door: Door, id: string, part: string): Promise<Answer> {
  return await vi.waitFor(async () => {
    const answer = await door.call('job.output', { id })
    expect(answer.data['text']).toContain(part)
    return answer
  })
}
