import { race } from '../harness/race.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'

const modules = ['../peers/ai-agent.ts', '../handrail/agents.ts'].map(
  (path) => new URL(path, import.meta.url),
)
const ai = 'ai, ToolLoopAgent'
const own = 'Handrail, runtime.run'

/** One turn of an agent: an answer of a model that costs nothing, one call of a validated tool, its result. */
export async function measure(settings: Settings): Promise<Row> {
  const all = await race(modules, settings)
  return {
    groups: [
      {
        title: 'one turn of an agent with one call, in runs of 20 turns',
        unit: 'µs',
        against: [{ name: ai, as: 'ai' }],
        series: all,
      },
    ],
    reaches: [
      {
        what: 'a turn of runtime.run / of ToolLoopAgent',
        unit: '×',
        value: ratio(named(all, own), named(all, ai)),
        atMost: 1,
      },
    ],
  }
}
