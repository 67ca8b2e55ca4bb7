import type { Contender } from '../harness/contender.ts'
import { nextInput, nextInputText, runTask } from '../harness/task.ts'
import { isOrderLine } from '../harness/task-ajv.ts'

const awaited: Contender = {
  name: 'plain awaited call',
  prepare: () =>
    Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await runTask(nextInput())
      },
      close() {},
    }),
}

const validated: Contender = {
  name: 'parse JSON + Ajv + call + stringify',
  prepare: () =>
    Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) JSON.stringify(await runTask(parseInput(nextInputText())))
      },
      close() {},
    }),
}

function parseInput(text: string) {
  const input: unknown = JSON.parse(text)
  if (!isOrderLine(input)) throw new Error('invalid input')
  return input
}

export const contenders = [awaited, validated]
