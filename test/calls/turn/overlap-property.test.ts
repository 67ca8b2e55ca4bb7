import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import fc from 'fast-check'
import {
  createRuntime,
  defineTool,
  ToolFailure,
  type CallRequest,
  type JsonObject,
  type Operation,
  type Runtime,
  type ToolResult,
} from 'handrail'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.ts'

const turns = rounds({ usual: 60, long: 10_000 })

const project = import.meta.dirname

/** What the tools work on: texts by name. A name that lies in another one is part of it. */
let world: Map<string, string>
/** Every change, in the order in which it happened. */
let changes: string[]
/** Ids of the calls that a person was asked about, in order. */
let asked: string[]
/** Reads that run at this moment. */
let looking = 0
/** Changes that happened while a read ran. */
let beside = 0

interface Input {
  id: string
  on: string
  /** So many rounds of the event loop pass before and after the tool does what it does. */
  before: number
  after: number
  fails: 'no' | 'early' | 'late'
  denied: boolean
}

const isFile = (on: string): boolean => !on.startsWith('db:')
const reading = (on: string): Operation =>
  isFile(on) ? { kind: 'fs.read', path: join(project, on), recursive: true } : { kind: 'other', resource: on }
const writing = (on: string): Operation =>
  isFile(on) ? { kind: 'fs.write', path: join(project, on) } : { kind: 'other', resource: on }

async function pass(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) await nextRound()
}

const byName = ([left]: [string, string], [right]: [string, string]): number => (left < right ? -1 : 1)

function see(part: (name: string) => boolean): string {
  return JSON.stringify([...world].filter(([name]) => part(name)).sort(byName))
}

/** What is there before and what is there after it, so that nobody may change it meanwhile. */
async function look({ before, after, fails }: Input, part: (name: string) => boolean): Promise<string> {
  looking++
  try {
    await pass(before)
    const first = see(part)
    await pass(after)
    if (fails !== 'no') throw new Error('cannot see')
    return `${first} ${see(part)}`
  } finally {
    looking--
  }
}

async function change({ id, on, before, after, fails }: Input): Promise<string> {
  await pass(before)
  if (fails === 'early') throw new Error('broke before it did anything')
  const was = world.get(on)
  world.set(on, `${was ?? ''}+${id}`)
  changes.push(id)
  if (looking > 0) beside++
  await pass(after)
  if (fails === 'late') throw new Error('broke after it did it')
  return `was ${was ?? 'not there'}`
}

const input = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    on: { type: 'string' },
    before: { type: 'integer' },
    after: { type: 'integer' },
    fails: { enum: ['no', 'early', 'late'] },
    denied: { type: 'boolean' },
  },
  required: ['id', 'on', 'before', 'after', 'fails', 'denied'],
} as const

/** The schema lets nothing else through. */
const toInput = (given: JsonObject): Input => given as unknown as Input

type Kind = 'readonly' | 'write'

function tool(
  name: string,
  permission: Kind,
  about: { tags?: string[]; plan?: (on: string) => Operation[]; run: (given: Input) => Promise<string> },
) {
  const { plan, run, tags = [] } = about
  return defineTool({
    name,
    description: 'Works on the world of the test.',
    permission,
    tags,
    sideEffect: permission === 'readonly' ? 'read' : 'process',
    scopes: permission === 'readonly' ? [] : [{ resource: 'world', action: 'write' }],
    capabilities: {
      fs: { read: ['*'], write: permission === 'write' ? ['*'] : [] },
      proc: { executables: permission === 'write' ? ['*'] : [] },
    },
    rawInput: input,
    ...(plan !== undefined && { plan: (given: JsonObject) => ({ operations: plan(toInput(given).on) }) }),
    run: (given: JsonObject) => run(toInput(given)),
  })
}

const within = (on: string) => (name: string) => name === on || name.startsWith(isFile(on) ? `${on}/` : on)

const tools = [
  tool('t.look', 'readonly', {
    plan: (on) => [reading(on)],
    run: (given) => look(given, within(given.on)),
  }),
  tool('t.look_asked', 'readonly', {
    plan: (on) => [reading(on)],
    run: (given) => look(given, within(given.on)),
  }),
  tool('t.look_anywhere', 'readonly', { run: (given) => look(given, () => true) }),
  tool('t.change', 'write', { plan: (on) => [writing(on)], run: change }),
  tool('t.create', 'write', {
    plan(on) {
      if (world.has(on)) throw new ToolFailure({ reason: 'path_conflict', message: `"${on}" is there.` })
      return [writing(on)]
    },
    run: change,
  }),
  tool('t.program', 'write', {
    plan: (on) => [
      writing(on),
      { kind: 'process', executable: process.execPath, argv: ['node'], cwd: project },
    ],
    run: change,
  }),
  tool('t.change_anything', 'write', { run: change }),
  tool('agent.start', 'write', { tags: ['agent'], plan: (on) => [writing(on)], run: change }),
]

const names = ['a', 'b', 'd', 'd/x', 'd/y', 'db:1', 'db:12', 'db:2']

const call = fc.record<CallRequest>({
  tool: fc.oneof(
    { arbitrary: fc.constantFrom('t.look', 't.change'), weight: 8 },
    { arbitrary: fc.constantFrom('t.create', 't.look_asked'), weight: 4 },
    {
      arbitrary: fc.constantFrom(
        't.look_anywhere',
        't.program',
        't.change_anything',
        'agent.start',
        't.missing',
      ),
      weight: 3,
    },
  ),
  input: fc.record({
    on: fc.constantFrom(...names),
    before: fc.integer({ min: 0, max: 3 }),
    after: fc.integer({ min: 0, max: 6 }),
    fails: fc.oneof(
      { arbitrary: fc.constant('no'), weight: 14 },
      { arbitrary: fc.constantFrom('early', 'late', 'in no way that its schema knows'), weight: 1 },
    ),
    denied: fc.oneof({ arbitrary: fc.constant(false), weight: 14 }, fc.constant(true)),
  }),
})

const turn = fc.record({
  there: fc.uniqueArray(fc.constantFrom(...names)),
  calls: fc.array(call, { minLength: 1, maxLength: 9 }),
})

let serial: Runtime
let overlapping: Runtime

beforeAll(async () => {
  const open = (overlapCalls: boolean) =>
    createRuntime({
      project,
      tools,
      overlapCalls,
      policy: {
        rules: [
          { id: 'ask', effect: 'ask', tools: ['t.look_asked'] },
          { id: 'quick', effect: 'allow', tools: ['t.change'], input: { denied: 'false' } },
        ],
      },
      limits: { parallelReads: 3, parallelAgents: 2, callsPerSession: 7 },
      approve: async ({ toolCallId, inputSummary }) => {
        asked.push(toolCallId)
        await pass(1)
        return { decision: inputSummary.includes('"denied":true') ? 'deny' : 'allow_once' }
      },
    })
  serial = await open(false)
  overlapping = await open(true)
})
afterAll(() => Promise.all([serial, overlapping].map((runtime) => runtime.close())))

/** Everything of a result but what tells one run of it from another. */
function essence(result: ToolResult) {
  const metadata = { ...result.metadata, session: '', durationMs: 0 }
  return { ...result, callId: '', metadata }
}

/** Everything that a turn brings about. */
async function runIn(runtime: Runtime, { there, calls }: { there: string[]; calls: CallRequest[] }) {
  world = new Map(there.map((name) => [name, 'old']))
  changes = []
  asked = []
  const after = runtime.store.head('local')?.sequence ?? 0
  const session = runtime.session()
  const numbered = calls.map((each, index) => {
    const id = `c${index}`
    return { ...each, id, input: { ...(each.input as object), id } }
  })
  const { results, endReason } = await session.turn(numbered)
  await session.close()
  const ends = new Map(
    [...runtime.store.records({ tenant: 'local', kind: 'end', after })].map(({ call: of, text }) => {
      const { outcome, code, reason } = JSON.parse(text) as { [field: string]: unknown }
      return [of, { outcome, code, reason }]
    }),
  )
  const begun = [...runtime.store.records({ tenant: 'local', kind: 'begin', after })].length
  return {
    endReason,
    results: results.map(essence),
    evidence: results.map(({ callId }) => ends.get(callId)),
    begun,
    world: [...world].sort(byName),
    changes,
    asked,
  }
}

test(`${turns} random turns whose calls overlap come out as they do one after the other (SCHED-1, SCHED-3, SCHED-4)`, async () => {
  let overlapped = 0
  const seen = { completed: 0, stopped_after_failed_write: 0, aborted_tools: 0 }
  await fc.assert(
    fc.asyncProperty(turn, async (given) => {
      const expected = await runIn(serial, given)
      seen[expected.endReason]++
      expect(beside).toBe(overlapped)
      expect(await runIn(overlapping, given)).toEqual(expected)
      overlapped = beside
    }),
    { numRuns: turns, seed: 20_261_121 },
  )
  expect(seen.aborted_tools).toBe(0)
  expect(seen.completed).toBeGreaterThan(turns / 10)
  expect(seen.stopped_after_failed_write).toBeGreaterThan(turns / 10)
  expect(overlapped).toBeGreaterThan(turns / 10)
})
