import { hash } from 'node:crypto'
import type { Contender } from '../harness/contender.ts'
import { nextInputText, runTask, taskName } from '../harness/task.ts'
import { isOrderLine } from '../harness/task-ajv.ts'

/** As many records as Handrail keeps in memory. */
const kept = 10_000

const rules = [
  { effect: 'deny', tools: 'danger.' },
  { effect: 'allow', tools: 'bench.' },
] as const

/** What a governed call costs at least: the work of one, by hand, for one tool, and nothing else. */
const floor: Contender = {
  name: 'floor, in memory',
  prepare() {
    const records: { text: string; hash: string }[] = []
    let written = 0
    let last = ''
    const append = (text: string): void => {
      last = hash('sha256', `${last}\n${text}`, 'hex')
      records[written++ % kept] = { text, hash: last }
    }
    const call = async (id: number, text: string): Promise<string> => {
      const input: unknown = JSON.parse(text)
      if (!isOrderLine(input)) throw new Error('invalid input')
      if (decide(taskName) !== 'allow') throw new Error('denied')
      append(JSON.stringify({ kind: 'begin', id, tool: taskName, at: Date.now(), input: text }))
      const result = JSON.stringify(await runTask(input))
      append(JSON.stringify({ kind: 'end', id, tool: taskName, at: Date.now(), result }))
      return result
    }
    return Promise.resolve({
      async round(calls) {
        for (let i = 0; i < calls; i++) await call(i, nextInputText())
      },
      close() {},
    })
  },
}

function decide(tool: string): 'allow' | 'deny' {
  for (const rule of rules) if (tool.startsWith(rule.tools)) return rule.effect
  return 'deny'
}

export const contenders = [floor]
