import fc from 'fast-check'
import {
  createRuntime,
  defineTool,
  type ApprovalAnswer,
  type Policy,
  type Rule,
  type Runtime,
  type Session,
  type SessionOptions,
} from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type AgentDefinition } from 'handrail/agents'
import type { Grant } from 'handrail/policy'
import { planTools } from 'handrail/tools'
import { expect } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { acting, nameIn, partOf, type Act } from './acting-model.ts'

/** One of the four files of tests that share the families, so that they share the processor. */
export type Part = 1 | 2 | 3 | 4

/** How many are in a part: ten thousand in all of `npm run test:long`. */
export const families = rounds({ usual: 30, long: 2_500 })

const reads = ['a.read', 'b.read']
const writes = ['a.write', 'b.write']
const names = [...reads, ...writes]
const some = fc.subarray([...names, 'a.*', 'b.*'], { minLength: 1 })
const patterns = fc.oneof({ weight: 1, arbitrary: some }, { weight: 1, arbitrary: fc.constant(['*']) })
/** Most may start agents, so that what those do is what differs. */
const withAgents = patterns.map((list) => [...list, 'agent.*', 'plan.*'])
const roles = fc.subarray(['main', 'orchestrator', 'sub', 'fork', 'worker'] as const, { minLength: 1 })
const grantedRoles = roles.map((list) => [...list, 'orchestrator' as const])
const modes = ['default', 'plan', 'accept-edits'] as const

const rule: fc.Arbitrary<Rule> = fc.record(
  {
    effect: fc.constantFrom('allow', 'ask', 'ask', 'deny'),
    tools: some,
    roles,
    modes: fc.subarray([...modes], { minLength: 1 }),
  },
  { requiredKeys: ['effect', 'tools'] },
)
/** Two that say different things of the very same calls are refused. */
const rules = fc.uniqueArray(rule, {
  maxLength: 3,
  selector: ({ tools = [] }) => tools.join(' '),
})
const grant: fc.Arbitrary<Grant> = fc.record(
  { tools: withAgents, roles: grantedRoles },
  { requiredKeys: ['tools'] },
)
const policy: fc.Arbitrary<Policy> = fc.record(
  { rules: rules, grants: fc.array(grant, { minLength: 1, maxLength: 3 }) },
  { requiredKeys: ['rules'] },
)
const parent: fc.Arbitrary<SessionOptions> = fc.record(
  {
    role: fc.constantFrom('main', 'orchestrator'),
    mode: fc.constantFrom(...modes),
    allowedTools: withAgents,
    disallowedTools: fc.subarray([...names, 'a.*'], { minLength: 1 }),
  },
  { requiredKeys: [] },
)
const definition = fc.record(
  {
    tools: withAgents,
    disallowedTools: fc.subarray([...names, 'a.*'], { minLength: 1 }),
    mode: fc.constant('plan' as const),
    role: fc.constantFrom('orchestrator', 'orchestrator', 'orchestrator', 'sub', 'worker'),
  },
  { requiredKeys: ['role'] },
)
/** What happens above while the youngest works. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('restrict' as const), tools: withAgents }),
  fc.record({ kind: fc.constant('plan' as const) }),
  fc.record({ kind: fc.constant('reload' as const), policy }),
)
/** Of each agent below the first: whether it is of a definition, and what its call asks for. */
const child = fc.record({ definition, tools: withAgents }, { requiredKeys: ['tools'] })
const family = fc.record(
  {
    policy,
    parent,
    child: fc.record({ definition, tools: withAgents }),
    grandchild: child,
    fork: fc.record({ tools: withAgents }),
    restriction: withAgents,
    event,
    answer: fc.constantFrom<ApprovalAnswer['decision']>(
      'allow_once',
      'allow_for_session',
      'allow_for_session',
      'deny',
    ),
  },
  { requiredKeys: ['policy', 'parent', 'child', 'grandchild', 'fork', 'answer'] },
)
type Family = typeof family extends fc.Arbitrary<infer Value> ? Value : never

/** What was done, or asked of the person: by whom, and whether after the event. */
interface Deed {
  who: string
  tool: string
  isLate: boolean
}

/** No agent of this part of the families does what one above it may not, or unasked what that is asked for. */
export async function checkFamilies(part: Part): Promise<void> {
  const folder = makeFolder()
  const seen = { child: 0, grandchild: 0, fork: 0, late: 0, asked: 0 }
  await fc.assert(
    fc.asyncProperty(family, async (each) => {
      const { did, asked } = await play(folder, each)
      for (const [above, below] of relatives)
        for (const deed of did.filter(({ who }) => who === below)) {
          const like = ({ who, tool, isLate }: Deed, whose: string) =>
            who === whose && tool === deed.tool && isLate === deed.isLate
          expect(
            did.some((other) => like(other, above)),
            `${above} may do what ${below} did`,
          ).toBe(true)
          seen[below]++
          if (deed.isLate) seen.late++
          // The first time: later a yes for its session may have answered.
          else if (asked.some((other) => like(other, above))) {
            expect(
              asked.some((other) => like(other, below)),
              `${below} asked as ${above} had to`,
            ).toBe(true)
            seen.asked++
          }
        }
    }),
    // Each part meets others.
    { numRuns: families, seed: rounds({ usual: part, long: Date.now() + part }) },
  )
  // Otherwise too few do anything for this to say something.
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
}

const relatives = [
  ['root', 'child'],
  ['root', 'fork'],
  ['child', 'grandchild'],
  ['root', 'grandchild'],
] as const

/** Lets a family work: each agent tries all tools, has the next one do so too, and tries all again. What happens above happens once, in the middle. */
async function play(folder: string, { policy, parent, restriction, event, answer, ...agents }: Family) {
  const did: { session: string; tool: string; isLate: boolean }[] = []
  const asked: typeof did = []
  let isLate = false
  const tools = names.map((tool) => makeTool(tool, (session) => did.push({ session, tool, isLate })))
  const { definition: first } = agents.child
  const { definition: second = {} } = agents.grandchild
  const definitions = [first, second].map((given, index): AgentDefinition => ({
    ...given,
    id: `kind${index}`,
    description: 'x',
    instructions: 'x',
  }))
  const happen = async () => {
    if (event !== undefined && !isLate) await act(event, { runtime, session })
    isLate = true
  }
  const start = (index: 0 | 1, { definition: kind, tools: wanted }: Family['grandchild']) => ({
    calls: [
      {
        tool: 'agent__create_sub_agent',
        input: {
          task: partOf(index === 0 ? 'child' : 'grandchild'),
          ...(kind !== undefined && { agent_definition_id: `kind${index}` }),
          ...(wanted !== undefined && { allowed_tools: wanted }),
        },
      },
    ],
  })
  const { tools: forked } = agents.fork
  const wish = { task: partOf('fork'), ...(forked !== undefined && { allowed_tools: forked }) }
  const model = acting({
    root: [
      ...tryAll(),
      { calls: [{ tool: 'agent__fork_agent', input: wish }] },
      start(0, agents.child),
      ...tryAll(happen),
      { text: 'Done.' },
    ],
    fork: [...tryAll(), { text: 'Done.' }],
    child: [...tryAll(), start(1, agents.grandchild), ...tryAll(happen), { text: 'Done.' }],
    grandchild: [tryReads(), ...tryWrites(happen), { text: 'Done.' }],
  })
  const runtime = await createRuntime({
    project: folder,
    home: folder,
    store: 'memory',
    tools: [...tools, delegationTools(), planTools()],
    policy,
    approve: async ({ session: who, tool }) => {
      asked.push({ session: who, tool, isLate })
      return { decision: answer }
    },
    services: { agentDefinitions: createAgentDefinitionRegistry({ definitions }) },
  })
  const session = runtime.session(parent)
  if (restriction !== undefined) session.restrict({ allowedTools: restriction })
  const run = await runtime.run({ model, session, prompt: partOf('root'), wait: true })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  const parts = new Map(
    runtime.runs.list().map((one) => {
      const said = runtime.runs.transcript(one.id).filter(({ type }) => type === 'user')
      return [one.session, nameIn(said.at(-1)) ?? '']
    }),
  )
  await runtime.close()
  const name = (deeds: typeof did): Deed[] =>
    deeds.map(({ session: id, ...deed }) => ({ ...deed, who: parts.get(id) ?? '' }))
  return { did: name(did), asked: name(asked) }
}

function makeTool(name: string, did: (session: string) => unknown) {
  const isWrite = writes.includes(name)
  return defineTool({
    name,
    description: 'x',
    permission: isWrite ? 'write' : 'readonly',
    sideEffect: isWrite ? 'write' : 'none',
    input: { type: 'object', properties: {}, additionalProperties: false },
    plan: () => ({ operations: [], scope: 'everything' }),
    run(_, { session }) {
      did(session)
      return name
    },
  })
}

type Before = () => Promise<void>

const calling = (tools: readonly string[], before?: Before): Act => {
  const said = { calls: tools.map((tool, index) => ({ id: `${index}`, tool: tool.replace('.', '__') })) }
  return async () => {
    await before?.()
    return said
  }
}
const tryReads = (before?: Before) => calling(reads, before)
/** One after the other: after one that is denied, the rest of an answer does not run. */
const tryWrites = (before?: Before) =>
  writes.map((name, index) => calling([name], index === 0 ? before : undefined))
const tryAll = (before?: Before) => [tryReads(before), ...tryWrites()]

async function act(
  event: NonNullable<Family['event']>,
  { runtime, session }: { runtime: Runtime; session: Session },
): Promise<void> {
  if (event.kind === 'restrict') session.restrict({ allowedTools: event.tools })
  else if (event.kind === 'plan') await session.call('plan.enter')
  else await runtime.reload({ policy: event.policy })
}
