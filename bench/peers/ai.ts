import { Ajv } from 'ajv'
import { generateText, jsonSchema, tool, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
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

const callsInStep = 20

/** One step of `generateText` in which the model asks for 20 calls. */
function step(name: string, tools: ToolSet): Contender {
  return {
    name,
    batch: callsInStep,
    prepare() {
      const model = new MockLanguageModelV4({ doGenerate: () => Promise.resolve(answer()) })
      return Promise.resolve({
        async round(calls) {
          for (let made = 0; made < calls; made += callsInStep)
            await generateText({ model, tools, prompt: 'Add the lines.' })
          model.doGenerateCalls.length = 0
        },
        close() {},
      })
    },
  }
}

function answer() {
  const content = Array.from({ length: callsInStep }, (_, index) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${index}`,
    toolName: wireName,
    input: nextInputText(),
  }))
  return {
    content,
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }
}

const validate = new Ajv().compile<OrderLine>(taskSchema)
const withAjv = jsonSchema<OrderLine>(
  { ...taskSchema, required: [...taskSchema.required] } as never, // its type wants mutable arrays
  {
    validate: (value) =>
      validate(value) ? { success: true, value } : { success: false, error: new Error('invalid input') },
  },
)

export const contenders = [
  step('ai, 20 calls in one step (JSON Schema + Ajv)', {
    [wireName]: tool({
      description: taskDescription,
      inputSchema: withAjv,
      execute: (line) => runTask(line),
    }),
  }),
  step('ai, 20 calls in one step (zod)', {
    [wireName]: tool({
      description: taskDescription,
      inputSchema: taskZod,
      execute: (line) => runTask(line),
    }),
  }),
]
