import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeTools, createRuntime } from 'handrail'
import { delegationTools, type AgentModel } from 'handrail/agents'

/**
 * A process that is killed at any time. It goes on with the run that was not over, or starts one, and another. Each starts an agent with a worktree of its
 * own, which reads in every second run and writes a file in the others. It prints a letter for each event.
 */
const [folder = '', most = '1000', store = join(folder, 'store.db')] = process.argv.slice(2)

const runtime = await createRuntime({
  project: join(folder, 'repository'),
  home: folder,
  tools: [codeTools(), delegationTools()],
  sandbox: 'host',
  policy: { rules: [{ effect: 'allow', tools: ['code.enter_worktree', 'code.write_file'] }] },
  store: { path: store },
})

interface Asked {
  prompt: { role: string; content: { text?: string }[] }[]
}

/** Says what comes next by what it was told. */
const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream({ prompt }: Asked) {
    const turn = prompt.filter(({ role }) => role === 'assistant').length
    const said = prompt.find(({ role }) => role === 'user')?.content[0]?.text ?? ''
    await sleep(Math.random() * 5)
    return { stream: ReadableStream.from(say(turn, said)) }
  },
} as AgentModel

function* say(turn: number, said: string): Generator<unknown> {
  const { tool, input } = said.startsWith('start ')
    ? {
        tool: 'agent__create_sub_agent',
        input: {
          task: said.slice(6),
          isolation: 'worktree',
          allowed_tools: ['code.read_file', 'code.write_file'],
        },
      }
    : said.startsWith('write')
      ? { tool: 'code__write_file', input: { path: 'made.txt', content: 'made\n', overwrite: true } }
      : { tool: 'code__read_file', input: { path: 'a.txt' } }
  yield turn === 0
    ? { type: 'tool-call', toolCallId: 'call_0', toolName: tool, input: JSON.stringify(input) }
    : { type: 'text-delta', id: '0', delta: 'Done.' }
  const finish = { unified: turn === 0 ? 'tool-calls' : 'stop' }
  yield {
    type: 'finish',
    finishReason: finish,
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  }
}

const isMain = ({ id }: { id: string }): boolean => !/^run_[0-9a-f]{24}$/.test(id)
for (;;) {
  const runs = runtime.runs.list({ limit: 10_000 }).filter(isMain)
  const open = runs.find(({ endReason }) => endReason !== 'completed')
  if (open === undefined && runs.length >= Number(most)) break
  const prompt = `start ${runs.length % 2 === 0 ? 'read' : 'write'} ${runs.length}`
  const run = await runtime.run({ model, ...(open === undefined ? { prompt } : { resume: open.id }) })
  for await (const { type } of run) process.stdout.write(type.slice(0, 1))
  const { endReason, error } = await run.result
  if (endReason !== 'completed') throw new Error(`${endReason}: ${error?.message}`)
}
await runtime.close()
