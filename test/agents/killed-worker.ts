import { once } from 'node:events'
import { join } from 'node:path'
import { createRuntime } from 'handrail'
import { delegationTools, type AgentModel } from 'handrail/agents'
import { taskTools } from 'handrail/tools'

/** A process whose worker claims a step and then never says anything, until it is killed. It prints the id of the run that dispatched the worker. */
const [folder = '', task_id = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [delegationTools(), taskTools()],
  policy: { rules: [{ effect: 'allow', tools: ['agent.*'] }] },
  store: { path: join(folder, 'store.db') },
})

const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream({ prompt }: { prompt: { role: string; content: { text?: string }[] }[] }) {
    const isWorker = prompt
      .find(({ role }) => role === 'user')
      ?.content[0]?.text?.includes('You are the worker')
    if (isWorker === true && prompt.some(({ role }) => role === 'tool')) {
      process.stdout.write('claimed\n')
      await once(process, 'never')
    }
    return { stream: ReadableStream.from(say(isWorker === true)) }
  },
} as AgentModel

function* say(isWorker: boolean): Generator<unknown> {
  const input = isWorker ? { task_id } : { task_id, instruction: 'Go.', allowed_step_ids: ['a', 'b'] }
  yield {
    type: 'tool-call',
    toolCallId: 'call_0',
    toolName: isWorker ? 'agent__task_claim_step' : 'agent__dispatch_worker',
    input: JSON.stringify(input),
  }
  yield {
    type: 'finish',
    finishReason: { unified: 'tool-calls' },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  }
}

const run = await runtime.run({ model, prompt: 'Have it done.' })
process.stdout.write(`${run.id}\n`)
// The model waits for nothing that would keep the process.
setInterval(() => undefined, 1_000)
await run.result
