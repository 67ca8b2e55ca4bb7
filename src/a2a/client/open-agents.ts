import type { A2aAgentState, A2aConfiguration } from '../../contract/a2a/agents.ts'
import type { FeedHost, OpenFeed } from '../../contract/mcp/tool-feed.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { openAgent, type Agent, type AgentSurroundings, type KnownAgent } from './agent.ts'
import { isWanted, toSourceName, type Skill, type Skills } from './skills.ts'
import { fieldsOfAgents, recallSkill, toTool } from './to-tool.ts'

/** All agents of a runtime. */
export interface OpenAgents extends OpenFeed {
  /** Reads the card of each, and takes the tools that it has now. */
  look(): Promise<readonly A2aAgentState[]>
}

interface Placed {
  readonly agent: Agent
  readonly refresh: () => Promise<A2aAgentState>
}

/** Brings the tools of agents: those that are remembered at once, and what was never seen when its card was read. */
export async function openAgents(
  configuration: A2aConfiguration,
  { meet, ...surroundings }: Omit<AgentSurroundings, 'configuration'> & { meet: boolean },
): Promise<OpenAgents> {
  const { agents, ...rest } = configuration
  const placed: Placed[] = []
  const meeting: Promise<unknown>[] = []
  for (const [name, options] of Object.entries(agents)) {
    const agent = openAgent(name, options, { ...surroundings, configuration: rest })
    const place = createPlace(agent, surroundings.host)
    await place.recall()
    placed.push({ agent, refresh: () => place.refresh() })
    if (meet && !surroundings.host.knowsOf(toSourceName(name))) meeting.push(place.refresh())
  }
  return {
    look: () => Promise.all(placed.map(({ refresh }) => refresh())),
    async settled(longestMs) {
      await withinMs(Promise.all(meeting), longestMs)
    },
    async close() {
      await Promise.all(placed.map(({ agent }) => agent.close()))
      await Promise.allSettled(meeting)
    },
  }
}

/** The tools of one agent, as the runtime has them. */
function createPlace(agent: Agent, host: FeedHost) {
  const { name, options } = agent
  const source = toSourceName(name)
  const [firstTenant = 'local'] = options.tenants ?? []
  let inPlace: ReadonlyMap<string, Skill> = new Map()
  let inTurn = Promise.resolve()

  const replace = async ({ found, faulty }: Skills, recalled: boolean): Promise<void> => {
    const next = new Map(found.map((skill) => [skill.name, skill]))
    const changed = found.filter((skill) => canonicalJson(inPlace.get(skill.name)) !== canonicalJson(skill))
    const removed = [...inPlace.keys()].filter((each) => !next.has(each))
    if (changed.length > 0 || removed.length > 0 || faulty.length > 0)
      await host.change({
        source: {
          id: source,
          kind: 'a2a',
          place: options.card,
          pinnedFields: fieldsOfAgents,
          supersedes: true,
          recalled,
          ...(options.defer !== undefined && { defer: options.defer }),
        },
        tools: changed.map((skill) => toTool(skill, agent, { host, onLook })),
        faulty,
        removed,
        tenants: options.tenants,
      })
    inPlace = next
  }
  const place = (skills: Skills, recalled = false): Promise<void> => {
    const placing = inTurn.then(() => replace(skills, recalled))
    inTurn = placing.catch(() => {})
    return placing
  }
  /** Tools are as the first tenant is shown them; another one may be shown fewer. */
  async function onLook(tenant: string, { skills }: KnownAgent): Promise<void> {
    if (tenant === firstTenant) await place(skills)
  }
  return {
    async recall() {
      const found = host.remembered(source).flatMap((definition) => recallSkill(definition) ?? [])
      const wanted = found.filter(({ id }) => isWanted(options, id))
      if (wanted.length > 0) await place({ found: wanted, faulty: [] }, true)
    },
    async refresh(): Promise<A2aAgentState> {
      const state = { agent: name, card: options.card }
      try {
        await onLook(firstTenant, await agent.look(firstTenant, 0))
        return { ...state, tools: [...inPlace.keys()], fault: undefined }
      } catch (error) {
        const fault = messageOf(error)
        host.report(source, `The agent "${name}" cannot be used: ${fault}`)
        return { ...state, tools: [...inPlace.keys()], fault }
      }
    },
  }
}
