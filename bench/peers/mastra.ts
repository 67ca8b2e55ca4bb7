import { createTool } from '@mastra/core/tools'
import type { Contender } from '../harness/contender.ts'
import { nextInput, runTask, taskDescription, wireName } from '../harness/task.ts'
import { taskZod } from '../harness/task-zod.ts'

const executing: Contender = {
  name: '@mastra/core createTool().execute (zod)',
  prepare() {
    const add = createTool({
      id: wireName,
      description: taskDescription,
      inputSchema: taskZod,
      execute: (line) => runTask(line),
    })
    const { execute } = add
    if (execute === undefined) throw new Error('createTool gave a tool without execute')
    const outside = {} as never // its type asks for an observer, which only an agent gives
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await execute(nextInput(), outside)
      },
      close() {},
    })
  },
}

export const contenders = [executing]
