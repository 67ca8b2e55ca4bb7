// Prints what 10,000 tools weigh in this process, in bytes. Run with --expose-gc.
import { loadHandrail, makeDirectory } from '../handrail/load.ts'
import { makeDefinitions, makeTools } from '../handrail/registry-of.ts'

const count = 10_000

const { createRuntime, defineTool } = await loadHandrail()
const { directory, remove } = makeDirectory()

const empty = await createRuntime({ project: directory, tools: [], store: 'memory' })
const before = weigh()
const definitions: unknown[] = makeDefinitions(count)
const withDefinitions = weigh()
definitions.length = 0
const start = weigh()
const full = await createRuntime({ project: directory, tools: makeTools(count, defineTool), store: 'memory' })
const withTools = weigh()
if (full.registry.size < empty.registry.size + count)
  throw new Error(`only ${full.registry.size} tools are there`)

process.stdout.write(JSON.stringify({ definitions: withDefinitions - before, registry: withTools - start }))
await full.close()
await empty.close()
remove()

function weigh(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
