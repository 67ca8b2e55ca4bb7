import { join } from 'node:path'
import { makeAgentModel, turnsOfRun } from '../harness/agent-model.ts'
import type { Contender } from '../harness/contender.ts'
import { loadHandrail, makeDirectory } from './load.ts'
import { makeTaskTool } from './task-tool.ts'

function agent(name: string, durable: boolean): Contender {
  return {
    name,
    batch: turnsOfRun,
    async prepare() {
      const { createRuntime, defineTool } = await loadHandrail()
      const { directory, remove } = makeDirectory()
      const runtime = await createRuntime({
        project: directory,
        tools: [makeTaskTool(defineTool)],
        store: durable ? { path: join(directory, 'store.db') } : 'memory',
      })
      const model = makeAgentModel('bench__add')
      return {
        async round(calls) {
          for (let made = 0; made < calls; made += turnsOfRun) {
            const run = await runtime.run({ model, prompt: 'Add the lines.' })
            let said = ''
            for await (const event of run) if (event.type === 'text') said += event.delta
            await run.result
            if (said !== 'Done.') throw new Error(`It said "${said}".`)
          }
        },
        async close() {
          await runtime.close()
          remove()
        },
      }
    },
  }
}

export const contenders = [
  agent('Handrail, runtime.run', false),
  agent('Handrail, runtime.run, durable', true),
]
