import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import type { AgentModel } from 'handrail/agents'
import { killedOptions } from './killed-options.ts'

/**
 * A process that is killed at any time. It goes on with the run that was not over, or starts one, and another, each of four answers with calls: one
 * that reads, one that adds a line to a file, and one that adds a line after a person's yes, which it says itself. It prints a letter for each event.
 */
const [folder = '', most = '1000'] = process.argv.slice(2)
const turns = 4

const runtime = await createRuntime({
  project: folder,
  home: folder,
  ...killedOptions(folder),
  store: { path: join(folder, 'store.db') },
  archive: { dir: folder },
})

/** Says what comes next by what it was told: its calls have the same ids in every answer. */
const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream({ prompt }: { prompt: { role: string; content: { text?: string }[] }[] }) {
    const turn = prompt.filter(({ role }) => role === 'assistant').length + 1
    const name = `${prompt.find(({ role }) => role === 'user')?.content[0]?.text ?? ''} ${turn}`
    await sleep(Math.random() * 3)
    return { stream: ReadableStream.from(say(turn, name)) }
  },
} as AgentModel

async function* say(turn: number, name: string): AsyncGenerator<unknown> {
  yield { type: 'text-delta', id: '0', delta: `Turn ${turn}.` }
  await sleep(Math.random() * 3)
  if (turn <= turns) {
    const calls = [
      ['look', {}],
      ['add', { line: `${name} added` }],
      ['ask', { line: `${name} asked` }],
    ] as const
    for (const [index, [tool, input]] of calls.entries())
      yield {
        type: 'tool-call',
        toolCallId: `call_${index}`,
        toolName: `demo__${tool}`,
        input: JSON.stringify(input),
      }
  }
  yield {
    type: 'finish',
    finishReason: { unified: turn <= turns ? 'tool-calls' : 'stop' },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  }
}

for (;;) {
  const runs = runtime.runs.list({ limit: 10_000 })
  const open = runs.find(({ endReason }) => endReason !== 'completed')
  if (open === undefined && runs.length >= Number(most)) break
  for (const { id } of runtime.approvals.list())
    await runtime.approvals.decide(id, { decision: 'allow_once', by: 'ann' })
  const run = await runtime.run({
    model,
    ...(open === undefined ? { prompt: `run ${runs.length + 1}` } : { resume: open.id }),
  })
  for await (const { type } of run) process.stdout.write(type.slice(0, 1))
  const { endReason, error } = await run.result
  if (endReason !== 'completed' && endReason !== 'approval_pending')
    throw new Error(`${endReason}: ${error?.message}`)
}
await runtime.close()
