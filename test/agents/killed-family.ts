import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeTools, createRuntime, defineTool } from 'handrail'
import { delegationTools, type AgentModel } from 'handrail/agents'
import { taskTools } from 'handrail/tools'
import { toChunks, type Said } from '../support/said.ts'

/**
 * A process that is killed at any time. It goes on with the run that was not over, or starts one, and another: an agent that starts a command and two
 * agents, the command and one of them in the background. Each of those claims a step, adds a line to a file, and another one after a person's yes, and
 * completes the step. It prints a letter for each event of the first agent, each answer and each line.
 */
const [folder = '', task = '', most = '1000'] = process.argv.slice(2)

function lineTool(name: string) {
  return defineTool({
    name,
    description: 'Adds a line to a file.',
    permission: 'write',
    input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    async run({ line }) {
      process.stdout.write('.')
      await sleep(Math.random() * 5)
      appendFileSync(join(folder, 'lines'), `${line}\n`)
      await sleep(Math.random() * 5)
      return { line }
    },
  })
}
const pause = defineTool({
  name: 'demo.pause',
  description: 'Waits a little.',
  permission: 'readonly',
  input: { type: 'object', properties: {} },
  run: async () => sleep(5).then(() => 'Later.'),
})

/** Runs as long as its session, and is known by the folder. */
const command = ['sh', '-c', 'sleep 100000; :', folder]

interface Message {
  role: string
  content: { type: string; text?: string; toolName?: string; output?: { value: string } }[]
}

/** What an agent says next, by what it was told. All that it has done it finds in its conversation. */
function decide(prompt: readonly Message[]): Said {
  const parts = prompt.flatMap(({ role, content }) => (role === 'system' ? [] : content))
  const name = /run (\w+)/.exec(parts[0]?.text ?? '')?.[1] ?? ''
  const called = (tool: string) =>
    parts.some(({ type, toolName }) => type === 'tool-call' && toolName === tool)
  const call = (tool: string, input: object, id = '0') => ({ id, tool, input })
  const step = /step (\S+)/.exec(parts[0]?.text ?? '')?.[1]
  if (step === undefined) return lead(name, parts)
  const told = parts.findLast(({ type }) => type === 'tool-result')
  const line = told?.output?.value ?? ''
  const state = /^\S+\s+(\w+)/.exec(line)?.[1]
  const attempt = /attempt (\d+)/.exec(line)?.[1]
  const isLook = told?.toolName === 'agent__task_query_steps'
  if (!isLook) return { calls: [call('agent__task_query_steps', { task_id: task, step_ids: [step] })] }
  if (state === 'completed') return { text: `The ${step} is done.` }
  if (state !== 'running')
    return { calls: [call('agent__task_claim_step', { task_id: task, step_id: step })] }
  if (!called('demo__note')) return { calls: [call('demo__note', { line: `${step} noted` })] }
  if (!called('demo__add')) return { calls: [call('demo__add', { line: step })] }
  const end = { task_id: task, step_id: step, attempt: Number(attempt), status: 'completed' }
  return { calls: [call('agent__task_update_step', end)] }
}

/** The agent above: starts both, and looks after the one in the background until it has ended. */
function lead(name: string, parts: Message['content']): Said {
  if (!parts.some(({ toolName }) => toolName === 'code__run_command'))
    return { calls: [{ tool: 'code__run_command', input: { argv: command, background: true } }] }
  const started = parts.filter(({ toolName }) => toolName === 'agent__create_sub_agent')
  if (started.length === 0)
    return {
      calls: ['a', 'b'].map((letter, index) => ({
        id: `${index}`,
        tool: 'agent__create_sub_agent',
        input: {
          task: `Of run ${name} do the step ${name}-${letter} of it.`,
          allowed_tools: ['agent.task_*', 'demo.*'],
          background: letter === 'b',
        },
      })),
    }
  const told = parts.findLast(({ type }) => type === 'tool-result')
  const id = /\brun_\w+/.exec(started.at(-1)?.output?.value ?? '')?.[0]
  if (id === undefined) throw new Error(`No agent was started: ${JSON.stringify(started)}`)
  if (
    told?.toolName === 'agent__inspect_agent' &&
    told.output?.value.includes(`The ${name}-b is done.`) === true
  )
    return { text: 'Done.' }
  if (/max_turns|failed/.test(told?.output?.value ?? '')) throw new Error(told?.output?.value)
  const inspect = { id: '0', tool: 'agent__inspect_agent', input: { agent_id: id } }
  return { calls: [{ id: '1', tool: 'demo__pause', input: {} }, inspect] }
}

const model = {
  specificationVersion: 'v4',
  provider: 'mock',
  modelId: 'mock',
  async doStream({ prompt }: { prompt: readonly Message[] }) {
    process.stdout.write('.')
    await sleep(Math.random() * 3)
    return { stream: ReadableStream.from(toChunks(decide(prompt))) }
  },
} as unknown as AgentModel

const runtime = await createRuntime({
  project: folder,
  home: folder,
  tools: [lineTool('demo.note'), lineTool('demo.add'), pause, codeTools(), delegationTools(), taskTools()],
  sandbox: 'host',
  policy: {
    rules: [
      { effect: 'allow', tools: ['agent.*', 'demo.note'] },
      { effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] },
    ],
  },
  store: { path: join(folder, 'store.db') },
  limits: { repeatsPerSession: 1_000_000 },
})
const isOwn = (session: string) => /^s\d+$/.test(session)

for (;;) {
  const runs = runtime.runs.list({ limit: 10_000 }).filter(({ session }) => isOwn(session))
  const open = runs.find(({ endReason }) => endReason !== 'completed')
  if (open === undefined && runs.length >= Number(most)) break
  const name = open?.session ?? `s${runs.length + 1}`
  const session = runtime.session({ id: name })
  for (let resume = open?.id; ;) {
    const asked = resume === undefined ? { prompt: `This is run ${name}.` } : { resume }
    const run = await runtime.run({ model, session, ...asked, wait: Math.random() < 0.5, maxTurns: 100_000 })
    for await (const { type } of run) process.stdout.write(type.slice(0, 1))
    const { endReason, error } = await run.result
    resume = run.id
    if (endReason === 'completed') break
    if (endReason !== 'approval_pending') throw new Error(`${endReason}: ${error?.message}`)
    await sleep(5)
  }
  await session.close()
}
await runtime.close()
