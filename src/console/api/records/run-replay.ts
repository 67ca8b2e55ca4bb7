import type { StoredRun } from '../../../contract/agent-run.ts'
import { readCalls } from '../../../evidence/read-calls.ts'
import type { FromSchema } from '../../../define/infer-input.ts'
import { align } from '../../../kit/align.ts'
import { endpoint, type Asked, type Endpoint } from '../../base/endpoint.ts'
import { refusingSetup } from '../../base/refusing-setup.ts'
import { findRun, noRun, reachRun } from '../runs.ts'
import { toJsonObject } from '../../base/to-json-object.ts'

/** Records of one run that are compared. */
const mostRecords = 3_000

const replay = endpoint({
  method: 'POST',
  path: '/api/runs/{run}/replay',
  summary:
    'Runs a run once more on what was recorded, without the world: says the first place where it would go another way now.',
  role: 'viewer',
  reach: reachRun,
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: { type: 'object', description: 'As `handrail evidence replay --json` shows it.' },
  async run(asked) {
    const run = findRun(asked)
    if (run === undefined) return noRun()
    const found = await refusingSetup(() => asked.parts.replay(run.id, run.tenant))
    return found instanceof Response ? found : toJsonObject(found)
  },
})

const side = {
  type: 'object',
  properties: {
    call: { type: 'string' },
    tool: { type: 'string' },
    outcome: { type: 'string' },
    durationMs: { type: 'integer' },
    input: { type: 'object', description: 'Absent if it was not kept.' },
    summary: { type: 'string', description: 'Of its result. Absent if that was not kept.' },
  },
  required: ['call', 'tool', 'outcome'],
} as const

/** A call of one run beside that of the other. */
export const comparedPair = {
  type: 'object',
  properties: {
    one: side,
    other: side,
    differs: {
      type: 'array',
      items: { type: 'string' },
      description: 'input, result, outcome: what is not the same in both. Empty if all is.',
    },
  },
  required: ['differs'],
} as const

export type ComparedPair = FromSchema<typeof comparedPair>
type Side = FromSchema<typeof side>

const compare = endpoint({
  method: 'GET',
  path: '/api/runs/{run}/compare/{other}',
  summary: 'The calls of two runs side by side, and what differs in each.',
  role: 'viewer',
  reach(question) {
    const [one, other] = [findRun(question), findRun(question, question.path['other'])]
    return one === undefined || other === undefined ? noRun() : [one.tenant, other.tenant]
  },
  answer: {
    type: 'object',
    properties: { pairs: { type: 'array', items: comparedPair } },
    required: ['pairs'],
  },
  run(asked) {
    const [one, other] = [findRun(asked), findRun(asked, asked.path['other'])]
    if (one === undefined || other === undefined) return noRun()
    const pairs = align(readSides(asked, one), readSides(asked, other), [
      (left, right) => left.side.tool === right.side.tool && left.input === right.input,
      (left, right) => left.side.tool === right.side.tool,
    ])
    return { pairs: pairs.map(([left, right]) => toPair(left, right)) }
  },
})

/** A call, and what is held against the other: the digest of its input, and what it returned, or the digest of that if it was not kept. */
interface Compared {
  readonly side: Side
  readonly input: string
  readonly result: string | undefined
}

function readSides({ parts: { runtime } }: Asked, { tenant, session }: StoredRun): Compared[] {
  const calls = readCalls(runtime.store.records({ tenant, session, limit: mostRecords }))
  return calls.map(({ begin, end, input, result }) => ({
    side: {
      call: begin.call,
      tool: begin.tool,
      outcome: end?.outcome ?? 'running',
      ...(end !== undefined && { durationMs: end.durationMs }),
      ...(input !== undefined && { input }),
      ...(result !== undefined && { summary: result.summary }),
    },
    input: begin.input,
    result: result === undefined ? end?.result : JSON.stringify([result.data, result.content, result.error]),
  }))
}

function toPair(one: Compared | undefined, other: Compared | undefined): ComparedPair {
  return {
    ...(one !== undefined && { one: one.side }),
    ...(other !== undefined && { other: other.side }),
    differs:
      one === undefined || other === undefined
        ? []
        : [
            ...(one.input === other.input ? [] : ['input']),
            ...(one.result === other.result ? [] : ['result']),
            ...(one.side.outcome === other.side.outcome ? [] : ['outcome']),
          ],
  }
}

export const runReplayEndpoints: readonly Endpoint[] = [replay, compare]
