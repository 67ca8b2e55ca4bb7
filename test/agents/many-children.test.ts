import { defineTool } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import type { Said } from '../support/said.ts'
import { acting, partOf } from './acting-model.ts'

const children = rounds({ usual: 32, long: 1_000 })
const atOnce = 32

test(`${children} agents that one starts work ${atOnce} at once, and each ends with its own answer (AGENT-2, SCHED-2)`, async () => {
  const parts = Array.from({ length: children }, (_, index) => `part${index}`)
  const did: string[] = []
  let working = 0
  let most = 0
  const tool = defineTool({
    name: 'demo.do',
    description: 'x',
    permission: 'readonly',
    input: { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] },
    run({ part }) {
      did.push(part)
      return `${part} is done`
    },
  })
  const follow = (part: string) => [
    (): Said => {
      most = Math.max(most, ++working)
      return { calls: [{ tool: 'demo__do', input: { part } }] }
    },
    (): Said => {
      working--
      return { text: `I did ${part}.` }
    },
  ]
  const start = (part: string, index: number) => ({
    id: `${index}`,
    tool: 'agent__create_sub_agent',
    input: { task: partOf(part), allowed_tools: ['demo.*'] },
  })
  const model = acting({
    lead: [{ calls: parts.map(start) }, { text: 'Done.' }],
    ...Object.fromEntries(parts.map((part) => [part, follow(part)])),
  })
  const runtime = await openRuntime({
    tools: [tool, delegationTools()],
    agents: { childrenPerSession: children },
    limits: { parallelAgents: atOnce, agentsPerSession: atOnce },
    store: { path: `${makeFolder()}/store.db` },
  })
  const run = await runtime.run({ model, prompt: partOf('lead'), contextTokens: 1e9 })
  expect(await run.result).toMatchObject({ endReason: 'completed', text: 'Done.', turns: 2 })
  expect(did.toSorted()).toEqual(parts.toSorted())
  expect(most).toBe(atOnce)
  const told = runtime.runs.transcript(run.id).find(({ type }) => type === 'tool')
  const answers = (told?.type === 'tool' ? told.content : []) as { output: { value: string } }[]
  expect(answers.map(({ output }) => /I did (part\d+)/.exec(output.value)?.[1])).toEqual(parts)
  const runs = runtime.runs.list({ limit: 2 * children })
  expect(runs).toHaveLength(children + 1)
  expect(runs.filter(({ endReason }) => endReason !== 'completed')).toEqual([])
})
