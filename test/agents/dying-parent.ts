import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { delegationTools } from 'handrail/agents'
import type { Store } from 'handrail/store'
import { acting, partOf } from './acting-model.ts'

/**
 * A process with an agent that starts another one: in the background, or not. If it has to die, it is killed when the second one is at work in the
 * background, or else when that one has ended and the call that started it has not. Its output has a line each time that the second one is asked, and
 * one for the end.
 */
const [folder = '', kind = '', fate = ''] = process.argv.slice(2)
const background = kind === 'background'
const die = () => fate === 'dies' && process.kill(process.pid, 'SIGKILL')
const inspect = () => {
  die()
  return {
    calls: [
      {
        tool: 'agent__inspect_agent',
        input: { agent_id: runtime.runs.list().find((one) => one.session !== 'lead')?.id },
      },
    ],
  }
}
const model = acting({
  lead: [
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: partOf('second'), background } }] },
    ...(background ? [inspect, inspect] : []),
    { text: 'Done.' },
  ],
  second: [
    () => {
      process.stdout.write('asked\n')
      if (background && fate === 'dies') return new Promise<never>(() => undefined)
      return { text: 'Second.' }
    },
  ],
})
const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [delegationTools()],
  store: { path: join(folder, 'store.db') },
})
const starting = new Set<string>()
const append = runtime.store.append.bind(runtime.store)
const watched: Store['append'] = (entries, changes) => {
  for (const { record } of entries) {
    if (record.kind === 'begin' && record.tool === 'agent.create_sub_agent') starting.add(record.call)
    if (record.kind === 'end' && starting.has(record.call) && !background) die()
  }
  return append(entries, changes)
}
Object.assign(runtime.store, { append: watched })
const last = runtime.runs.list().find((one) => one.session === 'lead')
const session = runtime.session({ id: 'lead' })
const run = await runtime.run({
  model,
  session,
  ...(last === undefined ? { prompt: partOf('lead') } : { resume: last.id }),
})
const { endReason } = await run.result
// One in the background has its time.
while (runtime.runs.list().some(({ state }) => state === 'running')) await sleep(2)
process.stdout.write(`${endReason}\n`)
await runtime.close()
