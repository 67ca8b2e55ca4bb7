import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, jobTools } from 'handrail'
import { scheduleTools } from 'handrail/tools'
import { allowAll } from './schedule-doors.ts'
import { buildTool } from './schedule-work.ts'

/** A process that runs the long tool of a schedule once, until it is killed; with `on`, one that goes on with that run and prints how it ended. */
const [folder = '', on] = process.argv.slice(2)

const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [buildTool(folder), jobTools(), scheduleTools()],
  policy: allowAll,
  store: { path: join(folder, 'store.db') },
})
const lastRun = () => runtime.schedules.list().map(({ id }) => runtime.schedules.runs(id)[0])[0]
if (on === undefined) {
  const input = { name: 'build', schedule: '0 0 1 1 *', tool: 'demo.build', input: {} }
  const { error } = await runtime.session({ actor: 'ann' }).call('cron.create', input)
  if (error !== undefined) throw new Error(error.message)
  await runtime.schedules.run(runtime.schedules.list()[0]?.id ?? '')
} else {
  runtime.schedules.start()
  while (lastRun()?.state === 'running') await sleep(20)
  const { state, error } = lastRun() ?? {}
  process.stdout.write(`${state} ${error?.reason ?? ''}`)
  await runtime.close()
}
