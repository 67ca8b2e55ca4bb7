import type { AgentCard, AgentSkill } from '@a2a-js/sdk'
import type { JsonObject } from '../../contract/base/json.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { toJson, isIssue } from '../../kit/json/to-json.ts'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { oneLine } from '../../kit/text/one-line.ts'
import { withoutInvisible } from '../../kit/json/without-invisible.ts'
import { toSegment } from '../../kit/names/name-segment.ts'
import type { A2aAgent } from '../../contract/a2a/agents.ts'
import { callExtension } from '../base/protocol.ts'

/** What an agent says of one thing that can be asked of it. Everything else in a definition is the operator's word. */
export interface Skill {
  /** Canonical. */
  readonly name: string
  /** What the agent calls it. */
  readonly id: string
  /** `call`: a tool of another Handrail, with the input that its schema says. `ask`: words to an agent. */
  readonly kind: 'call' | 'ask'
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | undefined
  /** Of everything that the agent says of it and that a model or a person goes by. */
  readonly seen: string
}

/** The skills of a card, and what no tool could be made of. */
export interface Skills {
  readonly found: readonly Skill[]
  readonly faulty: readonly { readonly tool: string; readonly message: string }[]
}

const mostSkills = 1_000
const mostBytes = 256 * 1024
const longestText = 10_000
const longestTitle = 200

/** The id of an agent as a source of tools. */
export function toSourceName(agent: string): string {
  return `a2a.${agent}`
}

/** What can be asked of an agent, as its card says and the operator lets it in. */
export function readSkills(agent: string, card: AgentCard, options: A2aAgent): Skills {
  const schemas = findSchemas(card)
  if (schemas === undefined)
    return { found: isWanted(options, 'ask') ? [toAsk(agent, card)] : [], faulty: [] }
  const found: Skill[] = []
  const faulty: { tool: string; message: string }[] = []
  for (const skill of card.skills.slice(0, mostSkills).filter(({ id }) => isWanted(options, id))) {
    const read = toCall(agent, skill, Object.hasOwn(schemas, skill.id) ? schemas[skill.id] : undefined)
    if ('message' in read) faulty.push(read)
    else found.push(read)
  }
  return { found, faulty }
}

/** Whether the operator lets a skill of this name be imported. */
export function isWanted({ tools = {} }: A2aAgent, id: string): boolean {
  const { allow = ['*'], deny = [] } = tools
  const isOneOf = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matchPattern(pattern, id))
  return isOneOf(allow) && !isOneOf(deny)
}

/** Undefined for an agent that takes no calls of tools. */
function findSchemas({ capabilities }: AgentCard): Record<string, unknown> | undefined {
  const extension = capabilities?.extensions.find(({ uri }) => uri === callExtension)
  if (extension === undefined) return undefined
  const tools: unknown = extension.params?.['tools']
  return isPlainObject(tools) ? tools : {}
}

function toCall(
  agent: string,
  { id, name: title, description }: AgentSkill,
  schema: unknown,
): Skill | { tool: string; message: string } {
  const name = toToolName(agent, id)
  const copied = toJson(schema)
  const facts = isIssue(copied) ? undefined : copied.json
  if (!isPlainObject(facts) || !isPlainObject(facts['inputSchema']))
    return { tool: name, message: 'Its card says of no schema what it takes.' }
  const { inputSchema, outputSchema } = facts
  const said = { id, title, description, inputSchema, outputSchema: outputSchema ?? null }
  const text = canonicalJson(said)
  if (text.length > mostBytes)
    return { tool: name, message: `Its definition is over ${mostBytes} characters.` }
  return {
    name,
    id,
    kind: 'call',
    title: oneLine(title, longestTitle) || oneLine(id, longestTitle),
    description: toDescription(agent, description),
    inputSchema: { type: 'object', ...withoutInvisible(inputSchema) },
    outputSchema: isPlainObject(outputSchema) ? withoutInvisible(outputSchema) : undefined,
    seen: digest(text),
  }
}

const askSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['message'],
  properties: {
    message: { type: 'string', minLength: 1, description: 'What is asked of the agent, in words.' },
    task: { type: 'string', description: 'Id of a task of the agent that waits for an answer.' },
    context: { type: 'string', description: 'Id of the context that the agent named in an earlier answer.' },
  },
}

/** An agent hears words and picks what it does by itself: a tool for each of its skills would permit what cannot be told apart. */
function toAsk(agent: string, { name, description, skills }: AgentCard): Skill {
  const lines = skills.slice(0, 50).map((skill) => `- ${skill.name}: ${skill.description}`)
  const text = [`Asks the agent "${name}". ${description}`, ...lines].join('\n')
  const said = { name, text }
  return {
    name: toToolName(agent, 'ask'),
    id: 'ask',
    kind: 'ask',
    title: oneLine(`Ask ${name}`, longestTitle),
    description: toDescription(agent, text),
    inputSchema: askSchema,
    outputSchema: undefined,
    seen: digest(canonicalJson(said)),
  }
}

/** Words of strangers, and said to be. */
function toDescription(agent: string, text: string): string {
  return `[agent "${agent}"] ${dropInvisible(text).trim().slice(0, longestText).toWellFormed()}`
}

/** The canonical name of a skill. The dots of its id stay, as those of a tool of another Handrail are. */
function toToolName(agent: string, id: string): string {
  const parts = id.split('.')
  const name = parts.length <= 6 ? parts.map((part) => toSegment(part, 40)).join('.') : toSegment(id, 120)
  return `${toSourceName(agent)}.${name}`
}
