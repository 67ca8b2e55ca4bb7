import type { Contender, Prepared } from '../harness/contender.ts'
import { nextInputText, taskName } from '../harness/task.ts'
import { loadHandrail, loadTelemetry, makeDirectory } from './load.ts'
import { makeTaskTool } from './task-tool.ts'

export const unwatched = 'without a watcher'
export const counted = 'metrics for Prometheus'

async function prepare(watched: boolean): Promise<Prepared> {
  const { createRuntime, defineTool } = await loadHandrail()
  const { createMetrics } = await loadTelemetry()
  const { directory, remove } = makeDirectory()
  const add = makeTaskTool(defineTool)
  const observers = watched ? [createMetrics().observer] : []
  const runtime = await createRuntime({ project: directory, tools: [add], observers })
  return {
    async round(calls) {
      const session = runtime.session()
      for (let i = 0; i < calls; i++) await session.call(taskName, nextInputText())
      await session.close()
    },
    async close() {
      await runtime.close()
      remove()
    },
  }
}

export const contenders: readonly Contender[] = [
  { name: unwatched, prepare: () => prepare(false) },
  { name: counted, prepare: () => prepare(true) },
]
