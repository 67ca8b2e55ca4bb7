import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { modelSaying } from '../support/mock-model.ts'

/** A process that extracts facts until it is killed, or all are read. A letter is printed with each question to the model. */
const [folder = ''] = process.argv.slice(2)

const runtime = await createRuntime({
  project: folder,
  home: folder,
  memory: { dir: join(folder, 'memory') },
  store: { path: join(folder, 'store.db') },
})
const answer = async ({ prompt }: { prompt: unknown }) => {
  process.stdout.write('.')
  await sleep(Math.random() * 5)
  const [, node = '', number = ''] =
    /"(run_\w+\.1)[^}]*fact number (\d+)/.exec(JSON.stringify(prompt).replaceAll('\\', '')) ?? []
  const facts = [{ node, content: `Fact ${number} holds.`, scope: 'project' }]
  return { text: JSON.stringify({ facts, candidates: [] }) }
}
const { model } = modelSaying(Array.from({ length: 1000 }, () => answer))
const report = await runtime.memory.extract({ model, limit: 1000 })
if (report.failed.length > 0) process.stderr.write(JSON.stringify(report.failed))
await runtime.close()
