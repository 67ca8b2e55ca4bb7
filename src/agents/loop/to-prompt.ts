import type { TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import { isOwnCall } from '../../doors/language-model/open-model-calls.ts'
import type { ModelMessage, ModelPart } from '../../doors/language-model/messages.ts'
import { textOf } from '../../doors/base/message-fields.ts'
import type { NameLimits } from '../../kit/names/name-codec.ts'

/** What a conversation is made of. */
export interface Conversation {
  readonly system: string
  readonly nodes: readonly TranscriptNode[]
  /** Which names of tools the provider takes. */
  readonly names: NameLimits
}

/**
 * The conversation as a model takes it. What was summarised is left out, but for what the user asked first, and what the user and other agents said last
 * if no answer came before the summary.
 */
export function toPrompt({ system, nodes, names }: Conversation): ModelMessage[] {
  const calls = createSoundCalls(names)
  return [
    { role: 'system', content: system },
    ...withoutSummarised(nodes).flatMap((node) => toMessages(node, calls)),
  ]
}

function withoutSummarised(nodes: readonly TranscriptNode[]): readonly TranscriptNode[] {
  const last = nodes.findLastIndex(({ type }) => type === 'summary')
  const first = nodes.find(({ type }) => type === 'user')
  const summary = nodes[last]
  if (first === undefined || summary === undefined) return nodes
  const answered = nodes.slice(0, last).findLastIndex(({ type }) => type !== 'user' && type !== 'messages')
  const unanswered = nodes.slice(answered + 1, last).filter((node) => node !== first)
  return [first, summary, ...unanswered, ...nodes.slice(last + 1)]
}

function toMessages(node: TranscriptNode, calls: SoundCalls): ModelMessage[] {
  switch (node.type) {
    case 'user':
    case 'messages':
      return [{ role: 'user', content: [{ type: 'text', text: node.text }] }]
    case 'assistant': {
      const content = calls.ask(partsOf(node.content))
      return content.some(saysSomething) ? [{ role: 'assistant', content }] : []
    }
    case 'tool':
      return [{ role: 'tool', content: calls.answer(partsOf(node.content)) }]
    case 'summary':
      return [
        { role: 'user', content: [{ type: 'text', text: `What happened since, in short:\n\n${node.text}` }] },
      ]
    case 'instructions':
      return []
  }
}

/** Providers refuse an answer of reasoning, or of parts of their own, alone. */
function saysSomething({ type, text }: ModelPart): boolean {
  return type === 'text' ? textOf(text).trim() !== '' : type !== 'reasoning' && type !== 'custom'
}

function partsOf(content: readonly Json[]): ModelPart[] {
  return content as unknown as ModelPart[]
}

/** Calls and their results as every provider takes them: each call under an id and a name that it may have, with an object as its input. */
interface SoundCalls {
  ask(content: readonly ModelPart[]): ModelPart[]
  /** The results of the calls asked last, in their order. */
  answer(content: readonly ModelPart[]): ModelPart[]
}

/** Models may use an id twice, or none. The first call of an id keeps it, so that what was sent stays as it is when more is said. */
function createSoundCalls(names: NameLimits): SoundCalls {
  const taken = new Set<string>()
  let asked: readonly ModelPart[] = []
  const free = (id: string): string => {
    const start = id === '' ? 'call' : id
    let found = id === '' ? 'call_1' : id
    for (let count = 2; taken.has(found); count++) found = `${start}_${count}`
    taken.add(found)
    return found
  }
  return {
    ask(content) {
      const parts = content.map((part) =>
        isOwnCall(part)
          ? {
              ...part,
              toolCallId: free(textOf(part['toolCallId'])),
              toolName: soundName(textOf(part['toolName']), names),
              input: readInput(part['input']),
            }
          : part.type === 'tool-call'
            ? { ...part, input: readInput(part['input']) }
            : part,
      )
      asked = parts.filter(isOwnCall)
      return parts
    },
    answer: (content) =>
      content.map((part, index) => {
        const { toolCallId, toolName } = asked[index] ?? part
        return { ...part, toolCallId: toolCallId ?? '', toolName: toolName ?? '' }
      }),
  }
}

/** Providers refuse a conversation in which a model called a name that they do not take. */
function soundName(name: string, { maxLength, first }: NameLimits): string {
  const plain = name.replaceAll(/[^\w-]/g, '_')
  const isSound = plain !== '' && (first !== 'letter' || /^[a-z]/i.test(plain))
  return (isSound ? plain : `t_${plain}`).slice(0, maxLength)
}

/** A prompt has the input of a call as a value, and providers take objects only. */
function readInput(input: Json | undefined): Json {
  if (typeof input !== 'string') return input ?? {}
  if (input.trim() === '') return {}
  try {
    const value: Json = JSON.parse(input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Told as what it is.
  }
  return { INVALID_JSON: input }
}
