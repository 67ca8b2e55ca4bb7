import { once } from 'node:events'
import { join } from 'node:path'
import { createRuntime, SetupError } from 'handrail'
import type { AgentModel } from 'handrail/agents'

/** A process that goes on with a run as soon as its standard input ends, asks a model that never answers, and says whether it took the run. */
const [folder = '', resume = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project: folder,
  home: folder,
  store: { path: join(folder, 'store.db') },
})
const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  doStream: async () => ({ stream: new ReadableStream() }),
}
process.stdout.write('ready\n')
await once(process.stdin.resume(), 'end')
try {
  await runtime.run({ model, resume, prompt: 'More.' })
  process.stdout.write('took\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stdout.write(`${error.code}\n`)
  await runtime.close()
}
