import type { TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { MemoryFact, MemoryScope } from '../../contract/services/memory.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { answerText } from '../loop/answer-text.ts'
import { longestFact } from './fact-file.ts'

/** What the user and the model said in some nodes of a conversation. */
export interface Part {
  /** The number of the last of these nodes. */
  readonly to: number
  readonly said: readonly { readonly id: string; readonly who: 'user' | 'assistant'; readonly text: string }[]
}

/** What a model proposes: a fact with the node that says it, or a candidate to take. */
export interface Proposal {
  readonly candidate?: string
  readonly node?: string
  readonly content?: string
  readonly scope?: MemoryScope
  readonly tags?: readonly string[]
}

/** Characters of one part, and of one node. */
const mostOfPart = 120_000
const mostOfNode = 40_000

/** The next part of a conversation. Results of tools, files and other agents are left out: what strangers wrote is not remembered as a fact. */
export function takePart(nodes: readonly TranscriptNode[], from: number): Part {
  const said: Part['said'][number][] = []
  let size = 0
  for (const [index, node] of nodes.entries()) {
    if (index < from || (node.type !== 'user' && node.type !== 'assistant')) continue
    const text = shorten(node.type === 'user' ? node.text : answerText(node), mostOfNode)
    if (text.trim() === '') continue
    if (size > 0 && size + text.length > mostOfPart) return { to: index, said }
    size += text.length
    said.push({ id: node.id, who: node.type, text })
  }
  return { to: nodes.length, said }
}

export const outputSchema: JsonSchema = {
  type: 'object',
  properties: {
    facts: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          node: { type: 'string' },
          content: { type: 'string', minLength: 1, maxLength: longestFact },
          scope: { type: 'string', enum: ['project', 'tenant'] },
          tags: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 60 }, maxItems: 10 },
        },
        required: ['node', 'content', 'scope'],
        additionalProperties: false,
      },
      maxItems: 50,
    },
    candidates: { type: 'array', items: { type: 'string' }, maxItems: 100 },
  },
  required: ['facts', 'candidates'],
  additionalProperties: false,
}

/** What the model is asked. */
export function toPrompt({ said }: Part, candidates: readonly MemoryFact[]): string {
  const talk = said.map(({ id, who, text }) => JSON.stringify({ node: id, who, text })).join('\n')
  const waiting = candidates.map(({ id, content }) => JSON.stringify({ candidate: id, content })).join('\n')
  return [
    'Below is what a user and an agent said to each other. Find facts in it that will be of use in later sessions: decisions, conventions, preferences of the user, what is where, what went wrong and why. Leave out what holds only for that task, guesses, and every password, key or token.',
    'Answer with JSON: "facts", each with the "node" that says it, its "content" in one or two sentences that can be read alone, "scope" (project: it holds in this project; tenant: it holds for the user everywhere) and "tags"; and "candidates", the ids of those candidates below that are such facts. Both may be empty.',
    `What was said:\n${markUntrusted(talk, 'conversation', 'an earlier conversation')}`,
    candidates.length === 0
      ? 'There are no candidates.'
      : `Candidates that the agent noted:\n${markUntrusted(waiting, 'candidates', 'an earlier conversation')}`,
  ].join('\n\n')
}

/** The proposals of an answer that was held to the schema. */
export function readProposals(output: Json | undefined): readonly Proposal[] {
  if (!isJsonObject(output)) return []
  const { facts, candidates } = output
  const own = Array.isArray(facts) ? facts.filter(isJsonObject) : []
  const taken = Array.isArray(candidates)
    ? candidates.filter((id) => typeof id === 'string').map((candidate) => ({ candidate }))
    : []
  return [...taken, ...own.map((fact) => fact as Proposal)]
}
