import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool, type RuntimeOptions } from 'handrail'

function lineTool(folder: string, name: string) {
  return defineTool({
    name,
    description: 'Adds a line to a file.',
    permission: 'write',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    async run({ line }) {
      await sleep(Math.random() * 3)
      appendFileSync(join(folder, 'lines'), `${line}\n`)
      await sleep(Math.random() * 3)
      return { line }
    },
  })
}

const look = defineTool({
  name: 'demo.look',
  description: 'Looks.',
  permission: 'readonly',
  input: { type: 'object', properties: {} },
  run: async () => {
    await sleep(Math.random() * 3)
    return 'seen'
  },
})

/** What the agent that is killed works with in this folder. */
export function killedOptions(folder: string): RuntimeOptions {
  return {
    tools: [look, lineTool(folder, 'demo.add'), lineTool(folder, 'demo.ask')],
    policy: { rules: [{ effect: 'allow', tools: ['demo.add'] }] },
  }
}
