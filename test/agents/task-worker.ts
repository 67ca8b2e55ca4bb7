import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { taskTools } from 'handrail/tools'
import { setTimeout as sleep } from 'node:timers/promises'
import { allowTasks, workOn, type ShownStep } from './task-doors.ts'

/**
 * A process of eight workers on one task. For each step that one of them claims it writes a line with its own name before the step is completed, and
 * prints a letter. It ends when nothing is left to claim, or when it is killed. `later` is by how much its clock is ahead. If it `keeps`, each worker
 * prints a `k` for the step that it claims first, and holds it until standard input ends.
 */
const [project = '', path = '', task_id = '', name = '', later = '0', keeps = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  tools: [taskTools()],
  policy: allowTasks,
  store: { path },
  limits: { repeatsPerSession: 1_000_000 },
  now: () => Date.now() + Number(later),
})
const letGo = keeps === '' ? undefined : once(process.stdin.resume(), 'end')
await Promise.all(Array.from({ length: 8 }, work))
await runtime.close()

async function work(): Promise<void> {
  const worker = workOn(runtime.session({ role: 'worker' }))
  let isFirst = true
  for (;;) {
    const { step, more } = await worker.data<{ step?: ShownStep; more: boolean }>('claim_step', { task_id })
    if (step === undefined && !more) return
    process.stdout.write('.')
    if (step === undefined) {
      await sleep(1)
      continue
    }
    appendFileSync(join(project, 'effects'), `${step.step_id} ${step.attempt} ${name}\n`)
    if (letGo !== undefined && isFirst) process.stdout.write('k')
    if (isFirst) await letGo
    isFirst = false
    await worker.update(task_id, step, { status: 'completed', output: name })
  }
}
