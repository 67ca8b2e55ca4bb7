import { Ajv } from 'ajv'
import { jsonSchema, tool, type ToolSet } from 'ai'
import { callsInStep, makeSteps } from '../harness/ai-step.ts'
import type { Contender } from '../harness/contender.ts'
import { runTask, taskDescription, taskSchema, wireName, type OrderLine } from '../harness/task.ts'
import { taskZod } from '../harness/task-zod.ts'

/** One step of `generateText` in which the model asks for 20 calls. */
function step(name: string, tools: ToolSet): Contender {
  return {
    name,
    batch: callsInStep,
    prepare: () => Promise.resolve({ round: makeSteps(wireName, { tools }), close() {} }),
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
