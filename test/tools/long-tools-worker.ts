import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { defineLongTool } from 'handrail/tools'

/** Starts jobs whose work is files of a folder, and follows those that were started before, until it is killed; with `end`, until all have ended. */
const [project = '', store = '', works = '', end] = process.argv.slice(2)

const work = defineLongTool({
  name: 'work.do',
  description: 'Does work that is asked three times.',
  input: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] },
  output: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] },
  everyMs: 2,
  survives: true,
  async start({ label }, _, { job }) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
    // It fails if the work of this job began before.
    writeFileSync(join(works, job), label, { flag: 'wx' })
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
    return { job, polls: 0 }
  },
  find: ({ job }) => (existsSync(join(works, job)) ? { job, polls: 0 } : undefined),
  poll({ state: { job, polls } }) {
    appendFileSync(join(works, `${job}.asked`), '.')
    if (polls < 3) return { status: 'running', state: { job, polls: polls + 1 }, progress: `asked ${polls}` }
    return { status: 'completed', result: { label: readFileSync(join(works, job), 'utf8') } }
  },
})

const runtime = await createRuntime({
  project,
  tools: [work],
  store: { path: store },
  policy: { rules: [{ effect: 'allow', tools: ['work.do'] }] },
  sandbox: 'host',
})
const session = runtime.session({ id: 'nights' })
const running = () => session.jobs().filter((job) => job.end === undefined).length
if (end === undefined) {
  for (;;) {
    process.stdout.write('.')
    if (running() < 6) await session.call('work.do', { label: randomUUID() })
    else await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
while (running() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
process.stdout.write(JSON.stringify(session.jobs()))
await runtime.close()
