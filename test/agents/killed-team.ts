import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from 'handrail'
import { delegationTools, type AgentModel } from 'handrail/agents'

/**
 * A process that is killed at any time. It goes on with the run that was not over, or starts one, and another: each makes a team, writes to a member, and
 * starts it; that one writes three messages to the lead. It prints a letter for each event of a lead.
 */
const [folder = '', most = '1000'] = process.argv.slice(2)

const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [delegationTools()],
  store: { path: join(folder, 'store.db') },
})

type Call = [tool: string, input: object]

const leads: readonly Call[] = [
  ['create_team', { name: 'crew', members: ['alice'] }],
  ['send_message', { to: 'alice', message: 'hello' }],
  [
    'create_sub_agent',
    { task: 'Go.', team_id: 'crew', name: 'alice', allowed_tools: ['agent.send_message'] },
  ],
]
const members: readonly Call[] = [1, 2, 3].map((each) => [
  'send_message',
  { to: 'lead', message: `m${each}` },
])

/** Says what comes next by what it was told: its calls have the same ids in every answer. */
const model: AgentModel = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream({ prompt }: { prompt: { role: string; content: { text?: string }[] }[] }) {
    const turn = prompt.filter(({ role }) => role === 'assistant').length
    const isMember = prompt
      .find(({ role }) => role === 'user')
      ?.content[0]?.text?.includes('member of the team')
    await sleep(Math.random() * 3)
    return { stream: ReadableStream.from(say((isMember === true ? members : leads)[turn])) }
  },
} as AgentModel

async function* say(call: Call | undefined): AsyncGenerator<unknown> {
  yield { type: 'text-delta', id: '0', delta: 'So.' }
  await sleep(Math.random() * 3)
  if (call !== undefined)
    yield {
      type: 'tool-call',
      toolCallId: 'call_0',
      toolName: `agent__${call[0]}`,
      input: JSON.stringify(call[1]),
    }
  yield {
    type: 'finish',
    finishReason: { unified: call === undefined ? 'stop' : 'tool-calls' },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  }
}

for (;;) {
  const runs = runtime.runs.list({ limit: 10_000 }).filter(({ id }) => isLead(id))
  const open = runs.find(({ endReason }) => endReason !== 'completed')
  if (open === undefined && runs.length >= Number(most)) break
  const run = await runtime.run({
    model,
    ...(open === undefined ? { prompt: 'Lead.' } : { resume: open.id }),
  })
  for await (const { type } of run) process.stdout.write(type.slice(0, 1))
  const { endReason, error } = await run.result
  if (endReason !== 'completed') throw new Error(`${endReason}: ${error?.message}`)
}
await runtime.close()

function isLead(id: string): boolean {
  const [first] = runtime.runs.transcript(id)
  return first?.type === 'user' && first.text === 'Lead.'
}
