import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { codeTools, createRuntime, resultText, type Configuration, type Policy } from 'handrail'
import { describe } from 'vitest'
import { createClient } from '../../mcp/connect.ts'
import { atEnd } from '../../support/at-end.ts'
import { handrail, type Place } from '../../support/command-line.ts'
import { firstOf } from '../../support/rounds.ts'
import { openTerminal } from '../../support/terminal.ts'
import { toServer } from '../../support/serve-stdio.ts'

/** Who calls, and what the person says when they are asked. */
export interface Asking {
  key?: string
  approve?: 'once' | 'deny'
  /** Happens while the person is asked. */
  meanwhile?: () => void
  tenant?: string
  actor?: string
  role?: 'main' | 'sub' | 'worker'
}

/** What came back, as far as every door can tell it. */
export interface Answer {
  ok: boolean
  code: string | undefined
  reason: string | undefined
  text: string
}

export interface Door {
  /** A tool as callers at this door call it. */
  nameOf(tool: string): string
  /** The same project, policy and store for every door; each of these has processes of its own. */
  at(place: Place): Caller
}

export interface Caller {
  call(tool: string, input: unknown, asking?: Asking): Promise<Answer>
  /** Ends the processes that calls were made in. */
  end(): Promise<void>
}

const library: Door = {
  nameOf: (tool) => tool,
  at: (place) => ({
    async call(tool, input, { key, approve, meanwhile, ...session } = {}) {
      const { commands } = readPart<Configuration>(place, 'config.json')
      const runtime = await createRuntime({
        project: place.project,
        home: place.user,
        tools: [codeTools({ ...(commands !== undefined && { commands }) })],
        policy: readPart<Policy>(place, 'policy.json'),
        sensitivePaths: [place.home],
        store: { path: place.store },
        signing: { dir: join(place.home, 'keys') },
        ...(approve !== undefined && {
          approve: async () => {
            meanwhile?.()
            return { decision: approve === 'once' ? ('allow_once' as const) : 'deny' }
          },
        }),
      })
      try {
        const result = await runtime
          .session(session)
          .call(tool, input, key === undefined ? {} : { idempotencyKey: key })
        return toAnswer(result.ok, resultText(result))
      } finally {
        await runtime.close()
      }
    },
    end: async () => {},
  }),
}

const commandLine: Door = {
  nameOf: (tool) => tool,
  at: (place) => ({
    async call(tool, input, { approve, meanwhile, ...more } = {}) {
      if (meanwhile !== undefined)
        return callAtTerminal(place, ['call', tool, JSON.stringify(input)], meanwhile)
      const options = Object.entries({ ...more, ...(approve !== undefined && { approve }) })
      const argv = [
        'call',
        tool,
        JSON.stringify(input),
        ...options.flatMap(([name, value]) => [`--${name}`, value]),
      ]
      const { code, stdout, stderr } = await handrail(place, argv)
      return toAnswer(code === 0, code === 0 ? stdout : stderr)
    },
    end: async () => {},
  }),
}

async function callAtTerminal(place: Place, argv: readonly string[], meanwhile: () => void): Promise<Answer> {
  const terminal = openTerminal(place, argv)
  await terminal.saw('? yes / no:')
  meanwhile()
  terminal.type('once\n')
  const code = await terminal.ended
  return toAnswer(code === 0, terminal.screen())
}

/** One server for each kind of caller. */
const mcp: Door = {
  nameOf: toMcpName,
  at(place) {
    const open = new Map<string, Promise<Connection>>()
    const end = async () => {
      for (const { client } of await Promise.all(open.values())) await client.close()
      open.clear()
    }
    atEnd(end)
    return {
      async call(tool, input, { key, approve, meanwhile, ...caller } = {}) {
        const kind = JSON.stringify([caller, approve !== undefined])
        const connection = open.get(kind) ?? connect(place, caller, approve !== undefined)
        open.set(kind, connection)
        const { client, person } = await connection
        Object.assign(person, { approve, meanwhile })
        const result = await client.callTool({
          name: toMcpName(tool),
          arguments: input as Record<string, unknown>,
          ...(key !== undefined && { _meta: { 'handrail/idempotency_key': key } }),
        })
        const text = result.content.map((block) => ('text' in block ? String(block.text) : '')).join('\n')
        return toAnswer(result.isError !== true, text)
      },
      end,
    }
  },
}

function toMcpName(tool: string): string {
  return tool.replaceAll('.', '__')
}

interface Connection {
  client: Client
  /** Says what the next call wants said. */
  person: Pick<Asking, 'approve' | 'meanwhile'>
}

async function connect(place: Place, caller: object, canAsk: boolean): Promise<Connection> {
  const person: Connection['person'] = {}
  const onAsk = () => {
    person.meanwhile?.()
    const decision = person.approve === 'once' ? 'allow_once' : 'deny'
    return { action: 'accept' as const, content: { decision } }
  }
  const client = createClient({ era: 'modern', ...(canAsk && { onAsk }) })
  const options = Object.entries(caller).flatMap(([name, value]) => [`--${name}`, String(value)])
  await client.connect(toServer(place, options))
  return { client, person }
}

/** What a file of the place holds that the command line reads by itself. */
function readPart<Part extends object>(place: Place, name: string): Partial<Part> {
  try {
    return JSON.parse(readFileSync(join(place.home, name), 'utf8')) as Part
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
}

function toAnswer(ok: boolean, text: string): Answer {
  const [, code, reason] = /([A-Z]+\.[A-Z_]+) \(([a-z_]+)\)/.exec(text) ?? []
  return { ok, code: ok ? undefined : code, reason: ok ? undefined : reason, text }
}

/** Every way in that there is. */
export const doors: readonly (readonly [name: string, door: Door])[] = [
  ['the library', library],
  ['the command line', commandLine],
  ['MCP', mcp],
]

/** The same tests at every door; `npm test` tries one. */
export function atEveryDoor(tests: (door: Door) => void): void {
  describe.each(firstOf(doors))('through %s', (_name, door) => tests(door))
}
