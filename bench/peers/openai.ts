import { Agent, RunContext, Runner, tool, Usage, type Model, type ModelResponse } from '@openai/agents'
import type { Contender } from '../harness/contender.ts'
import {
  nextInputText,
  runTask,
  taskDescription,
  taskSchema,
  wireName,
  type OrderLine,
} from '../harness/task.ts'
import { taskZod } from '../harness/task-zod.ts'

const callsInTurn = 20
const about = { name: wireName, description: taskDescription }

const zodTool = tool({ ...about, parameters: taskZod, execute: (line) => runTask(line) })
const jsonTool = tool({
  ...about,
  // Its type wants mutable arrays.
  parameters: { ...taskSchema, required: [...taskSchema.required] } as never,
  execute: (line) => runTask(line as OrderLine),
})

function invoking(name: string, add: typeof jsonTool | typeof zodTool): Contender {
  return {
    name,
    prepare() {
      const context = new RunContext()
      return Promise.resolve({
        async round(calls) {
          for (let i = 0; i < calls; i++) await add.invoke(context, nextInputText())
        },
        close() {},
      })
    },
  }
}

/** One turn of the runner in which the model asks for 20 calls; the run ends with their results. */
const running: Contender = {
  name: '@openai/agents runner, 20 parallel calls (zod)',
  batch: callsInTurn,
  prepare() {
    const runner = new Runner({ tracingDisabled: true })
    const agent = new Agent({
      name: 'clerk',
      model,
      tools: [zodTool],
      toolUseBehavior: 'stop_on_first_tool',
    })
    return Promise.resolve({
      async round(calls) {
        for (let made = 0; made < calls; made += callsInTurn) await runner.run(agent, 'Add the lines.')
      },
      close() {},
    })
  },
}

const model: Model = {
  getResponse: () => Promise.resolve(answer()),
  getStreamedResponse() {
    throw new Error('not streamed here')
  },
}

function answer(): ModelResponse {
  const output = Array.from({ length: callsInTurn }, (_, index) => ({
    type: 'function_call' as const,
    callId: `call-${index}`,
    name: wireName,
    status: 'completed' as const,
    arguments: nextInputText(),
  }))
  return { usage: new Usage(), output }
}

export const contenders = [
  invoking('@openai/agents tool.invoke (JSON Schema)', jsonTool),
  invoking('@openai/agents tool.invoke (zod)', zodTool),
  running,
]
