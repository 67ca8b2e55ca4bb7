import { tool } from '@langchain/core/tools'
import type { Contender } from '../harness/contender.ts'
import { nextInput, runTask, taskDescription, taskSchema, wireName, type OrderLine } from '../harness/task.ts'
import { taskZod } from '../harness/task-zod.ts'

const about = { name: wireName, description: taskDescription }

const zod: Contender = {
  name: '@langchain/core tool.invoke (zod)',
  prepare() {
    const add = tool((line) => runTask(line), { ...about, schema: taskZod })
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await add.invoke(nextInput())
      },
      close() {},
    })
  },
}

const json: Contender = {
  name: '@langchain/core tool.invoke (JSON Schema)',
  prepare() {
    // Its overload for JSON Schema types the input as unknown; the library has checked it by then.
    const add = tool((line) => runTask(line as OrderLine), { ...about, schema: taskSchema as never })
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await add.invoke(nextInput() as never)
      },
      close() {},
    })
  },
}

export const contenders = [zod, json]
