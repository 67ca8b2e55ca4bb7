import { chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ElicitResult } from '@modelcontextprotocol/client'
import {
  codeTools,
  createRuntime,
  declarativeTools,
  jobTools,
  resultText,
  type ApprovalAnswer,
  type Configuration,
  type Policy,
  type Session,
} from 'handrail'
import { describe } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { atEnd, keepOpen } from './at-end.ts'
import { makePlace, type Place } from './command-line.ts'
import { firstOf } from './rounds.ts'
import { toOwnServer, toServer } from './serve-stdio.ts'

/** A project in which commands run, reached in one way. */
export interface Entrance {
  readonly project: string
  /** Home of the person. */
  readonly home: string
  /** Runs a program. */
  readonly run: (...argv: string[]) => Promise<Answer>
  /** Runs lines one after the other in one command, each in a shell of its own. */
  readonly runLines: (lines: readonly string[]) => Promise<LineEnds>
  readonly call: (tool: string, input: Readonly<Record<string, unknown>>) => Promise<Answer>
  /** Leaves these files in the project, and nothing else. */
  readonly renew: (files?: Files) => void
}

type Files = Readonly<Record<string, string | Uint8Array>>

export interface LineEnds {
  /** How each line ended, and what it printed. */
  ends: { line: string; ok: boolean; text: string }[]
  /** What was said of the command as a whole. */
  rest: string
}

/** What came back, as far as every entrance can tell it. */
export interface Answer {
  ok: boolean
  code: string | undefined
  reason: string | undefined
  text: string
  /** The text, and the data with it: all of the result that a model may see. */
  seen: string
}

export interface EntranceOptions {
  files?: Files
  configuration?: Configuration
  policy?: Policy
  /** Declared tools of the person, by the names of their files. */
  declared?: Readonly<Record<string, unknown>>
  /** Variables of Handrail's own environment. */
  env?: Readonly<Record<string, string>>
  /** Something that Handrail knows to be secret. */
  secret?: string
  /** Default: yes to everything, so that what is refused the policy or the sandbox refuses. A function may say what is not an answer. */
  says?: 'allow_for_session' | 'allow_once' | 'deny' | (() => unknown)
  /** Happens in the project while the person is asked. */
  meanwhile?: (project: string) => void
}

export type Open = (options?: EntranceOptions) => Promise<Entrance>

const isRoot = process.getuid?.() === 0
/** A user without rights and without an entry in the list of users. */
const stranger = 4_242

const mcp = ['MCP', (options) => openMcp(options, undefined)] as const satisfies [string, Open]
const mcpOfStranger = [
  'MCP of an unprivileged user',
  (options) => openMcp(options, stranger),
] as const satisfies [string, Open]

const library = ['the library', (options) => openLibrary(options)] as const satisfies [string, Open]
const child = ['a child session', (options) => openLibrary(options, openChild)] as const satisfies [
  string,
  Open,
]
/** Those of each door with each user; a Handrail of an ordinary user is the one that most people have. */
const outer = [...(isRoot ? [mcpOfStranger] : []), mcp, library]

/**
 * The same tests through the library and through MCP; when root runs them, through MCP of a Handrail that an unprivileged user started too.
 * `npm test` tries the latter alone.
 */
export function atEveryEntrance(tests: (open: Open) => void): void {
  describe.each(firstOf(outer))('through %s', (_name, open) => tests(open))
}

/**
 * The same tests at those entrances and in a child session, each over one project for all of its tests. What is decided before the sandbox is
 * alike at all of them: `npm test` tries the library alone.
 */
export function atOpenEntrances(options: EntranceOptions, tests: (at: () => Entrance) => void): void {
  const all = firstOf([library, ...outer.filter((each) => each !== library), child])
  describe.each(all)('through %s', (_name, open) => tests(keepOpen(() => open(options))))
}

/** At an entrance of a Handrail that no root started. */
export const openAsOrdinaryUser: Open = isRoot
  ? (options) => openMcp(options, stranger)
  : (options) => openLibrary(options)

type OpenSession = (runtime: Awaited<ReturnType<typeof createRuntime>>) => Session

/** An agent that the first one started, with every tool that it may have. */
const openChild: OpenSession = (runtime) =>
  runtime.session({ parent: runtime.session(), role: 'sub', allowedTools: ['*'] })

/** A runtime in this process. */
export async function openLibrary(
  options: EntranceOptions = {},
  openSession: OpenSession = (runtime) => runtime.session(),
): Promise<Entrance> {
  const { files, configuration = {}, env = {}, policy, secret, says = 'allow_for_session' } = options
  const place = makePlace(files, declaredOf(options))
  const { shell, commands, webSearch: _, agents: __, ...rest } = configuration
  const runtime = await withEnvironment(env, () =>
    createRuntime({
      project: place.project,
      home: place.user,
      tools: [
        codeTools({ shell, commands }),
        jobTools(),
        ...(options.declared === undefined ? [] : [declarativeTools({ dir: join(place.home, 'tools') })]),
      ],
      approve: async () => {
        options.meanwhile?.(place.project)
        return { decision: typeof says === 'function' ? says() : says } as ApprovalAnswer
      },
      ...rest,
      ...(policy !== undefined && { policy }),
      ...(secret !== undefined && { secrets: { secret } }),
    }),
  )
  atEnd(() => runtime.close())
  const session = openSession(runtime)
  return toEntrance(place, async (tool, input) => {
    const result = await session.call(tool, input)
    return toAnswer(result.ok, resultText(result), result.data)
  })
}

async function withEnvironment<T>(env: Readonly<Record<string, string>>, make: () => Promise<T>): Promise<T> {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, env)
  try {
    return await make()
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

async function openMcp(options: EntranceOptions = {}, user: number | undefined): Promise<Entrance> {
  const { files, configuration = {}, env = {}, policy = {}, secret, says = 'allow_for_session' } = options
  const knowing = secret === undefined ? configuration : { ...configuration, webSearch: searchWithSecret }
  const place = makePlace(files, {
    'config.json': knowing,
    'policy.json': policy,
    ...declaredOf(options),
  })
  if (user !== undefined) for (const folder of [place.project, place.user]) giveTo(folder, user)
  const client = createClient({
    era: 'modern',
    onAsk: () => {
      options.meanwhile?.(place.project)
      return {
        action: 'accept',
        content: { decision: typeof says === 'function' ? says() : says },
      } as ElicitResult
    },
  })
  const own = { ...env, ...(secret !== undefined && { SEARCH_SECRET: secret }) }
  // What is in the environment of a process from its start on, others can see.
  const isOwn = Object.keys(own).length > 0
  await client.connect(isOwn ? toOwnServer(place, { user, env: own }) : toServer(place, [], user))
  atEnd(() => client.close())
  return toEntrance(place, async (tool, input) => {
    const asked = { name: tool.replaceAll('.', '__'), arguments: { ...input } }
    const result = await client.callTool(asked, { timeout: 600_000 })
    const text = result.content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
    return toAnswer(result.isError !== true, text, result.structuredContent)
  })
}

function declaredOf({ declared = {} }: EntranceOptions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(declared).map(([name, file]) => [`tools/${name}`, file]))
}

/** A search engine that nobody asks; its key is what the command line knows to be secret. */
const searchWithSecret = {
  engine: 'searxng',
  url: 'https://search.example/',
  secret: 'SEARCH_SECRET',
} as const

function giveTo(folder: string, user: number): void {
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, path), user, user)
}

function toEntrance({ project, user }: Place, call: Entrance['call']): Entrance {
  const run: Entrance['run'] = (...argv) => call('code.run_command', { argv })
  return {
    project,
    home: user,
    call,
    run,
    runLines: (lines) => runLines(run, lines),
    renew: (files = {}) => renew(project, files),
  }
}

function renew(project: string, files: Files): void {
  for (const name of readdirSync(project)) rmSync(join(project, name), { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), content)
  }
  giveTo(project, statSync(project).uid)
}

function toEnd(line: string, [, said = '', code]: readonly string[] = []): LineEnds['ends'][number] {
  return { line, ok: code === '0', text: said }
}

async function runLines(run: Entrance['run'], lines: readonly string[]): Promise<LineEnds> {
  const script = lines.map((line) => `sh -c '${line.replaceAll("'", `'\\''`)}' 2>&1; echo "\nended: $?"`)
  const { text } = await run('sh', '-c', script.join('\n'))
  const ends = [...text.matchAll(/([^]*?)\nended: (\d+)$/gm)]
  if (ends.length !== lines.length) throw new Error(`Not every line was run:\n${text}`)
  const rest = text.slice(text.lastIndexOf('\nended: '))
  return { ends: lines.map((line, index) => toEnd(line, ends[index])), rest }
}

function toAnswer(ok: boolean, text: string, data: unknown): Answer {
  const [, code, reason] = /([A-Z]+\.[A-Z_]+) \(([a-z_]+)\)/.exec(text) ?? []
  const seen = `${text}\n${JSON.stringify(data) ?? ''}`
  return { ok, code: ok ? undefined : code, reason: ok ? undefined : reason, text, seen }
}
