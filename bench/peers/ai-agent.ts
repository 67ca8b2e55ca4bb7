import { isStepCount, jsonSchema, tool, ToolLoopAgent } from 'ai'
import { Ajv } from 'ajv'
import type { Contender } from '../harness/contender.ts'
import { makeAgentModel, turnsOfRun } from '../harness/agent-model.ts'
import { runTask, taskDescription, taskSchema, wireName, type OrderLine } from '../harness/task.ts'

const validate = new Ajv().compile<OrderLine>(taskSchema)
const inputSchema = jsonSchema<OrderLine>(
  { ...taskSchema, required: [...taskSchema.required] } as never, // its type wants mutable arrays
  {
    validate: (value) =>
      validate(value) ? { success: true, value } : { success: false, error: new Error('invalid input') },
  },
)

export const contenders: readonly Contender[] = [
  {
    name: 'ai, ToolLoopAgent',
    batch: turnsOfRun,
    async prepare() {
      const agent = new ToolLoopAgent({
        model: makeAgentModel(wireName) as never, // of the mock, only what the loop uses
        tools: {
          [wireName]: tool({ description: taskDescription, inputSchema, execute: (line) => runTask(line) }),
        },
        stopWhen: isStepCount(turnsOfRun + 1),
      })
      return {
        async round(calls) {
          for (let made = 0; made < calls; made += turnsOfRun) {
            const result = await agent.stream({ prompt: 'Add the lines.' })
            let text = ''
            for await (const delta of result.textStream) text += delta
            if (text !== 'Done.') throw new Error(`It said "${text}".`)
          }
        },
        close() {},
      }
    },
  },
]
