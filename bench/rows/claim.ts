// Prints how long it takes to claim a step of a task of 10,000, with 64 workers of which each holds one, on a store on the disk: by itself, as a
// call with its evidence, and how long all 64 need for one step together when they work at the same time. No step may be done twice.
import { join } from 'node:path'
import { loadHandrail, loadTools, makeDirectory } from '../handrail/load.ts'

const steps = 10_000
const workers = 64
const each = 1500
const perCall = 1000

const { createRuntime, defineTool } = await loadHandrail()
const { taskTools } = await loadTools()
const { directory, remove } = makeDirectory()
const empty = { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] } as const
/** What a program does that claims in a tool of its own: the time is that of the claim alone. */
const claim = defineTool({
  name: 'bench.claim',
  description: 'Claims a step.',
  permission: 'readonly',
  limits: { concurrency: workers },
  needs: ['tasks'],
  input: empty,
  async run({ task }, { tasks }) {
    const start = performance.now()
    const { step } = await tasks.claim(task)
    return { ms: performance.now() - start, step: step?.id ?? '', attempt: step?.attempt ?? 0 }
  },
})
const runtime = await createRuntime({
  project: directory,
  tools: [taskTools(), claim],
  policy: { rules: [{ effect: 'allow', tools: ['agent.task_*', 'bench.*'] }] },
  store: { path: join(directory, 'store.db') },
})

type Session = ReturnType<typeof runtime.session>

interface Held {
  step: string
  attempt: number
}

const call = async <T>(session: Session, tool: string, input: object): Promise<T> => {
  const { ok, data, error } = await session.call(tool, { ...input })
  if (!ok) throw new Error(`${tool} gives ${JSON.stringify(error)}`)
  return data as T
}
const author = runtime.session()
const made = await call<{ task: { task_id: string } }>(author, 'agent.task_create', { title: 'bench' })
const task = made.task.task_id
const started = performance.now()
for (let from = 0; from < steps; from += perCall) {
  const operations = Array.from({ length: perCall }, (_, i) => addStep(from + i))
  await call(author, 'agent.task_update', { task_id: task, operations })
}
const makeMs = performance.now() - started

const done = new Set<string>()
const sessions = Array.from({ length: workers }, () => runtime.session())
const held: Held[] = []
for (const session of sessions) held.push(await call<Held>(session, 'bench.claim', { task }))

const claimMs: number[] = []
const callMs: number[] = []
for (let n = 0; n < each * 2; n++) {
  const index = n % workers
  const session = sessions[index] ?? author
  await complete(session, held[index])
  const asCall = Math.floor(n / workers) % 2 === 1
  const start = performance.now()
  if (asCall) {
    const { step } = await call<{ step: { step_id: string; attempt: number } }>(
      session,
      'agent.task_claim_step',
      { task_id: task },
    )
    callMs.push(performance.now() - start)
    held[index] = { step: step.step_id, attempt: step.attempt }
  } else {
    const claimed = await call<Held & { ms: number }>(session, 'bench.claim', { task })
    claimMs.push(claimed.ms)
    held[index] = claimed
  }
}
const before = done.size
const began = performance.now()
await Promise.all(sessions.map(work))
const stepMs = (performance.now() - began) / (done.size - before)
if (done.size !== steps) throw new Error(`${done.size} of ${steps} steps were done`)
await runtime.close()
process.stdout.write(JSON.stringify({ claimMs, callMs, stepMs, makeMs }))
remove()

function addStep(n: number): object {
  const depends_on = n < 200 ? [] : [`s${n - 200}`, `s${n - 100 - (n % 50)}`]
  return { op: 'add_step', step_id: `s${n}`, title: `Step ${n}`, depends_on }
}

async function complete(session: Session, claimed: Held | undefined): Promise<void> {
  const { step = '', attempt = 0 } = claimed ?? {}
  if (done.has(step)) throw new Error(`the step "${step}" was done twice`)
  done.add(step)
  await call(session, 'agent.task_update_step', {
    task_id: task,
    step_id: step,
    attempt,
    status: 'completed',
  })
}

async function work(session: Session, index: number): Promise<void> {
  let mine: Held | undefined = held[index]
  while (mine !== undefined && mine.step !== '') {
    await complete(session, mine)
    mine = await call<Held>(session, 'bench.claim', { task })
    // What is left waits for steps that others do.
    while (mine?.step === '' && done.size < steps) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      mine = await call<Held>(session, 'bench.claim', { task })
    }
  }
}
