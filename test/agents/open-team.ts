import { codeTools, type Runtime, type RuntimeOptions } from 'handrail'
import { delegationTools, type TranscriptNode } from 'handrail/agents'
import { taskTools } from 'handrail/tools'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

/** A call of a tool of the group `agent`. */
export function say(tool: string, input: object = {}): Said {
  return { calls: [{ tool: `agent__${tool}`, input }] }
}

/** Lets all that agents do with tasks go unasked. */
export const allowAgents = { rules: [{ effect: 'allow' as const, tools: ['agent.*'] }] }

/** A runtime with the tools of agents and tasks. */
export async function openAgents(options: RuntimeOptions = {}): Promise<Runtime> {
  return openRuntime({
    project: makeFolder({ 'a.txt': 'alpha\n' }),
    tools: [codeTools(), delegationTools(), taskTools()],
    sandbox: 'host',
    policy: allowAgents,
    ...options,
  })
}

/** A model that answers each agent from its own list: agents are told apart by words of what they are asked first. */
export function modelOf(
  agents: Readonly<Record<string, readonly (Said | ((asked: ModelAsked) => Said | Promise<Said>))[]>>,
) {
  const asked: Record<string, ModelAsked[]> = {}
  const answer = (options: ModelAsked): Said | Promise<Said> => {
    const text = JSON.stringify(options.prompt.find(({ role }) => role === 'user')?.content)
    const name = Object.keys(agents).find((each) => text.includes(each))
    if (name === undefined) throw new Error('No agent of this name.')
    const before = (asked[name] ??= [])
    before.push(options)
    const said = agents[name]?.[before.length - 1]
    if (said === undefined) throw new Error(`The agent ${name} was asked ${before.length} times.`)
    return typeof said === 'function' ? said(options) : said
  }
  const { model } = modelSaying(Array.from({ length: 200 }, () => answer))
  return { model, asked }
}

/** The result that was told last. */
export function lastTold(asked: ModelAsked | undefined): string {
  return toldResults(asked ?? { prompt: [] }).at(-1) ?? ''
}

/** What the agent reads last that is no result. */
export function lastSaid({ prompt }: ModelAsked = { prompt: [] }): string {
  return JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content ?? '')
}

/** The messages that a run has read. */
export function messagesOf(nodes: readonly TranscriptNode[]) {
  return nodes.flatMap((node) => (node.type === 'messages' ? node.messages : []))
}
