import type { Contender, Prepared } from '../harness/contender.ts'
import { nextInputText } from '../harness/task.ts'
import { loadHandrail, makeDirectory } from './load.ts'
import { calledTools, makeRules, makeTools } from './registry-of.ts'

interface Size {
  tools: number
  rules: number
  /** Whether all tools are asked for in turn, and not the same ten. */
  all?: boolean
}

function preflight(name: string, size: Size): Contender {
  return {
    name,
    otherTask: true,
    async prepare(): Promise<Prepared> {
      const { createRuntime, defineTool } = await loadHandrail()
      const { directory, remove } = makeDirectory()
      const runtime = await createRuntime({
        project: directory,
        tools: makeTools(size.tools, defineTool),
        policy: { rules: makeRules(size.rules) },
        store: 'memory',
      })
      const session = runtime.session()
      const first = await session.preflight('bench.add0', nextInputText())
      if (first.effect !== 'allow') throw new Error(`preflight gives ${JSON.stringify(first)}`)
      const names =
        size.all === true ? runtime.registry.list().map((tool) => tool.definition.name) : calledTools
      let asked = 0
      return {
        async round(calls) {
          for (let i = 0; i < calls; i++)
            await session.preflight(names[asked++ % names.length] ?? '', nextInputText())
        },
        async close() {
          await runtime.close()
          remove()
        },
      }
    },
  }
}

export const small = 'preflight p95, 10 tools, 10 rules'
export const large = 'preflight p95, 10,000 tools, 1,000 rules'

export const contenders = [
  preflight(small, { tools: 10, rules: 10 }),
  preflight(large, { tools: 10_000, rules: 1000 }),
  preflight('the same, another tool each time', { tools: 10_000, rules: 1000, all: true }),
]
