import { executed, stepped } from '../handrail/ai-sdk.ts'
import { race } from '../harness/race.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'

const modules = [
  '../floors/plain.ts',
  '../floors/memory.ts',
  '../peers/mastra.ts',
  '../peers/openai.ts',
  '../peers/mcp-v1.ts',
  '../peers/mcp-v2.ts',
  '../peers/langchain.ts',
  '../peers/ai.ts',
  '../floors/durable.ts',
  '../handrail/calls.ts',
  '../handrail/ai-sdk.ts',
].map((path) => new URL(path, import.meta.url))

const floor = 'floor, in memory'
const ai = 'ai, 20 calls in one step (JSON Schema + Ajv)'
const call = 'Handrail, session.call'
const turn = 'Handrail, session.turn of 20 calls'

/** The same validated tool through everything that calls tools. */
export async function measure(settings: Settings): Promise<Row> {
  const all = await race(modules, settings)
  const over = (one: string, other: string) => ratio(named(all, one), named(all, other))
  return {
    groups: [
      {
        title: 'one call of a validated tool, in memory',
        unit: 'µs',
        against: [
          { name: floor, as: 'floor' },
          { name: ai, as: 'ai' },
        ],
        series: all.filter((series) => !series.name.includes('durable')),
      },
      ...[1, 32, 256].map((width) => ({
        title: `one call with evidence in SQLite, ${width} in flight`,
        unit: 'µs' as const,
        against: [{ name: `floor, durable, ${width} in flight`, as: 'floor' }],
        series: all.filter((series) => series.name.endsWith(`durable, ${width} in flight`)),
      })),
    ],
    reaches: [
      { what: 'turn of 20, one call / the same in ai', unit: '×', value: over(turn, ai), atMost: 0.5 },
      { what: `${executed} / session.turn`, unit: '×', value: over(executed, turn), atMost: 1.3 },
      { what: `${stepped} / the SDK's own tools`, unit: '×', value: over(stepped, ai), atMost: 0.8 },
      { what: 'one call / in-memory floor', unit: '×', value: over(call, floor), atMost: 2 },
      { what: 'turn of 20, one call / in-memory floor', unit: '×', value: over(turn, floor), atMost: 2 },
      {
        what: 'durable call, 256 in flight / durable floor (2 × is half its calls/s)',
        unit: '×',
        value: over('Handrail, durable, 256 in flight', 'floor, durable, 256 in flight'),
        atMost: 2,
      },
    ],
  }
}
