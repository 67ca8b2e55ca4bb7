import { callsInStep, makeSteps } from '../harness/ai-step.ts'
import type { Contender, Prepared } from '../harness/contender.ts'
import { nextInput } from '../harness/task.ts'
import { open } from './calls.ts'
import { loadAiSdk } from './load.ts'

export const executed = 'Handrail in ai, 20 × execute'
export const stepped = 'Handrail in ai, 20 calls in one step'

async function openDoor() {
  const { aiSdk } = await loadAiSdk()
  const { runtime, close } = await open(false)
  return {
    open: () => {
      const session = runtime.session()
      const door = aiSdk(session)
      const [[name, tool] = []] = Object.entries(door.tools)
      if (name === undefined || tool === undefined) throw new Error('The door has no tool.')
      return { session, door, name, tool }
    },
    close,
  }
}

/** The tool of the door by itself, as the SDK calls it. */
const execute: Contender = {
  name: executed,
  batch: callsInStep,
  async prepare(): Promise<Prepared> {
    const { open: openOne, close } = await openDoor()
    return {
      async round(calls) {
        const { session, tool } = openOne()
        const run = async (toolCallId: string): Promise<void> => {
          // The last output is the result.
          for await (const _ of tool.execute(nextInput(), { toolCallId }));
        }
        for (let made = 0; made < calls; made += callsInStep)
          await Promise.all(Array.from({ length: callsInStep }, (_, index) => run(`call-${made + index}`)))
        await session.close()
      },
      close,
    }
  },
}

/** The whole door, spread into `generateText`. */
const step: Contender = {
  name: stepped,
  batch: callsInStep,
  async prepare(): Promise<Prepared> {
    const { open: openOne, close } = await openDoor()
    return {
      async round(calls) {
        const { session, door, name } = openOne()
        await makeSteps(name, door)(calls)
        await session.close()
      },
      close,
    }
  },
}

export const contenders = [execute, step]
