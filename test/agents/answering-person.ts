import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'

/** A process in which a person says yes, once, to whatever waits in a store, until its standard input ends. */
const [folder = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project: folder,
  home: folder,
  store: { path: join(folder, 'store.db') },
})
let isOver = false
process.stdin.resume().once('end', () => (isOver = true))
while (!isOver) {
  for (const { id } of runtime.approvals.list())
    await runtime.approvals.decide(id, { decision: 'allow_once', by: 'ann' })
  await sleep(3)
}
await runtime.close()
