import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, defineTool } from 'handrail'
import { scheduleTools } from 'handrail/tools'

/**
 * A process that runs schedules until it is killed, or until `ends` says 1 and no run goes on. Its clock runs 600 times as fast from `began` on. Each
 * run adds a line with its id to a file, with pauses before and behind that; a letter is printed with each.
 */
const [folder = '', began = '0', ends = ''] = process.argv.slice(2)

const note = defineTool({
  name: 'demo.note',
  description: 'Adds a line to a file.',
  permission: 'write',
  input: { type: 'object', properties: {} },
  async run(_, { toolCallId }) {
    await sleep(Math.random() * 5)
    appendFileSync(join(folder, 'lines'), `${toolCallId}\n`)
    process.stdout.write('.')
    await sleep(Math.random() * 5)
  },
})

const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [scheduleTools(), note],
  policy: { rules: [{ effect: 'allow', tools: ['demo.note', 'cron.*'] }] },
  store: { path: join(folder, 'store.db') },
  now: () => Date.UTC(2026, 10, 24) + (Date.now() - Number(began)) * 600,
})
const schedules = runtime.schedules.list()
if (schedules.length === 0) {
  const session = runtime.session()
  for (let count = 0; count < 8; count++) {
    const input = { name: `n${count}`, schedule: '* * * * *', time_zone: 'UTC', tool: 'demo.note', input: {} }
    const { ok, error } = await session.call('cron.create', input)
    if (!ok) throw new Error(error?.message)
  }
}
const runner = runtime.schedules.start()
if (ends === '1') {
  const isOver = () =>
    runtime.schedules.list().every(({ lastRun }) => lastRun?.state === 'ok' || lastRun?.state === 'failed')
  await sleep(2000)
  while (!isOver()) await sleep(20)
  await runner.close()
  await runtime.close()
}
