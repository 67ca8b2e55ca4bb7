// Prints what 1,000 agents that one agent starts weigh in this process and take of its time, 32 of them at once: bytes of heap and external memory
// after collection, while all that it keeps of them is there, and milliseconds of the processor for one answer. Run with --expose-gc.
import { loadAgents, loadHandrail, makeDirectory } from '../handrail/load.ts'

const children = 1_000
const atOnce = 32
const turns = 4

const { createRuntime, defineTool } = await loadHandrail()
const { delegationTools } = await loadAgents()
const { directory, remove } = makeDirectory()
let isStarted = false
let isMet = false
let met: (() => void) | undefined
let waiting = 0
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

/** Costs nothing: the first agent starts the others, and each of those makes a call in each of its answers but the last. */
const model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench',
  async doStream({ prompt }: { prompt: readonly { role: string; content: unknown }[] }) {
    const answers = prompt.filter(({ role }) => role === 'assistant').length
    const isFirst = JSON.stringify(prompt.at(1)?.content).includes('Start them.')
    if (isStarted && !isFirst && answers === 1) await untilMet()
    isStarted ||= isFirst
    return { stream: ReadableStream.from(isFirst ? lead(answers) : follow(answers)) }
  },
}

/** When as many as may work at once do so, what they weigh is taken once. */
async function untilMet(): Promise<void> {
  if (isMet) return
  waiting++
  if (waiting < atOnce) return new Promise((resolve) => (met = chain(met, resolve)))
  isMet = true
  atWork = weigh()
  met?.()
}

function chain(before: (() => void) | undefined, then: () => void): () => void {
  return () => {
    before?.()
    then()
  }
}

function lead(answers: number): object[] {
  if (answers > 0) return finish('stop', { type: 'text-delta', id: '0', delta: 'Done.' })
  const calls = Array.from({ length: children }, (_, index) => ({
    type: 'tool-call',
    toolCallId: `${index}`,
    toolName: 'agent__create_sub_agent',
    input: JSON.stringify({ task: `Do part ${index}.`, allowed_tools: ['bench.*'] }),
  }))
  return finish('tool-calls', ...calls)
}

function follow(answers: number): object[] {
  if (answers >= turns - 1) return finish('stop', { type: 'text-delta', id: '0', delta: 'Done.' })
  const call = { type: 'tool-call', toolCallId: '0', toolName: 'bench__look', input: `{"part":${answers}}` }
  return finish('tool-calls', call)
}

function finish(unified: string, ...parts: object[]): object[] {
  return [...parts, { type: 'finish', finishReason: { unified }, usage }]
}

const look = defineTool({
  name: 'bench.look',
  description: 'Looks.',
  permission: 'readonly',
  input: { type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] },
  run: ({ part }) => ({ part }),
})
const runtime = await createRuntime({
  project: directory,
  home: directory,
  tools: [look, delegationTools()],
  agents: { childrenPerSession: children },
  limits: { parallelAgents: atOnce, agentsPerSession: atOnce },
  store: { path: `${directory}/store.db` },
})
// What is loaded with the first agent is not weighed.
await (
  await runtime.run({ model: model as never, prompt: 'Look.' })
).result
const before = weigh()
let atWork = before
const processor = process.cpuUsage()
const start = performance.now()
const run = await runtime.run({ model: model as never, prompt: 'Start them.' })
const { endReason } = await run.result
const { user, system } = process.cpuUsage(processor)
const wallMs = performance.now() - start
const after = weigh()
const runs = runtime.runs.list({ limit: 2 * children })
const ended = runs.filter((each) => each.endReason === 'completed')
if (endReason !== 'completed' || ended.length !== children + 2)
  throw new Error(`${ended.length - 2} of ${children} agents ended well, and the first one with ${endReason}`)
const answers = children * turns
process.stdout.write(
  JSON.stringify({
    workingKb: (atWork - before) / atOnce / 1e3,
    keptKb: (after - before) / children / 1e3,
    turnMs: (user + system) / 1e3 / answers,
    wallMs: wallMs / answers,
  }),
)
await runtime.close()
remove()

function weigh(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
