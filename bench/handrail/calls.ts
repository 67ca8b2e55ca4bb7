import { join } from 'node:path'
import { inFlight, type Contender, type Prepared } from '../harness/contender.ts'
import { nextInputText, taskName } from '../harness/task.ts'
import { loadHandrail, makeDirectory } from './load.ts'
import { makeTaskTool } from './task-tool.ts'

const callsInTurn = 20

/** A runtime with the task, in a small house. */
export async function open(durable: boolean) {
  const { createRuntime, defineTool } = await loadHandrail()
  const { directory, remove } = makeDirectory()
  const add = makeTaskTool(defineTool)
  const runtime = await createRuntime({
    project: directory,
    tools: [add],
    policy: {
      rules: [
        { effect: 'deny', tools: ['danger.*'] },
        { effect: 'allow', tools: ['bench.*'] },
      ],
    },
    store: durable ? { path: join(directory, 'store.db') } : 'memory',
  })
  const close = async (): Promise<void> => {
    await runtime.close()
    remove()
  }
  return { runtime, close }
}

const single: Contender = {
  name: 'Handrail, session.call',
  async prepare(): Promise<Prepared> {
    const { runtime, close } = await open(false)
    return {
      async round(calls) {
        const session = runtime.session()
        for (let i = 0; i < calls; i++) await session.call(taskName, nextInputText())
        await session.close()
      },
      close,
    }
  },
}

const turn: Contender = {
  name: 'Handrail, session.turn of 20 calls',
  batch: callsInTurn,
  async prepare(): Promise<Prepared> {
    const { runtime, close } = await open(false)
    return {
      async round(calls) {
        const session = runtime.session()
        for (let made = 0; made < calls; made += callsInTurn)
          await session.turn(
            Array.from({ length: callsInTurn }, () => ({ tool: taskName, input: nextInputText() })),
          )
        await session.close()
      },
      close,
    }
  },
}

function durable(width: number): Contender {
  return {
    name: `Handrail, durable, ${width} in flight`,
    batch: width,
    async prepare(): Promise<Prepared> {
      const { runtime, close } = await open(true)
      return {
        async round(calls) {
          const session = runtime.session()
          await inFlight(width, calls, () => session.call(taskName, nextInputText()))
          await session.close()
        },
        close,
      }
    },
  }
}

export const contenders = [single, turn, ...[1, 32, 256].map(durable)]
