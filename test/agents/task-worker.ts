import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { taskTools } from 'handrail/tools'
import { setTimeout as sleep } from 'node:timers/promises'
import { allowTasks, workOn, type ShownStep } from './task-doors.ts'

/**
 * A process of eight workers on one task. For each step that one of them claims it writes a line with its own name before the step is completed, and
 * prints a letter. It ends when nothing is left to claim, or when it is killed. `later` is by how much its clock is ahead. If one `keeps`, that worker
 * holds the step that it claims first for ever, and prints a `k` for it.
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
await Promise.all(Array.from({ length: 8 }, (_, each) => work(keeps !== '' && each === 0)))
await runtime.close()

async function work(isKeeping: boolean): Promise<void> {
  const worker = workOn(runtime.session({ role: 'worker' }))
  for (;;) {
    const { step, more } = await worker.data<{ step?: ShownStep; more: boolean }>('claim_step', { task_id })
    if (step === undefined && !more) return
    process.stdout.write('.')
    if (step === undefined) {
      await sleep(1)
      continue
    }
    appendFileSync(join(project, 'effects'), `${step.step_id} ${step.attempt} ${name}\n`)
    if (isKeeping) {
      process.stdout.write('k')
      return new Promise(() => {})
    }
    await worker.update(task_id, step, { status: 'completed', output: name })
  }
}
