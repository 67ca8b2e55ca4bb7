import type { TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import type { ModelMessage, ModelPart } from '../../doors/language-model/messages.ts'

/** The conversation as a model takes it: what was summarised is left out, but for what the user asked first. */
export function toPrompt(system: string, nodes: readonly TranscriptNode[]): ModelMessage[] {
  const last = nodes.findLastIndex(({ type }) => type === 'summary')
  const [first] = nodes
  const kept = last > 0 && first !== undefined ? [first, ...nodes.slice(last)] : nodes
  return [{ role: 'system', content: system }, ...kept.flatMap(toMessages)]
}

function toMessages(node: TranscriptNode): ModelMessage[] {
  switch (node.type) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: node.text }] }]
    case 'assistant':
      return node.content.length === 0
        ? []
        : [{ role: 'assistant', content: partsOf(node.content).map(toPart) }]
    case 'tool':
      return [{ role: 'tool', content: partsOf(node.content) }]
    case 'summary':
      return [
        { role: 'user', content: [{ type: 'text', text: `What happened since, in short:\n\n${node.text}` }] },
      ]
  }
}

function partsOf(content: readonly Json[]): ModelPart[] {
  return content as unknown as ModelPart[]
}

/** A prompt has the input of a call as a value, and providers take objects only. */
function toPart(part: ModelPart): ModelPart {
  if (part.type !== 'tool-call' || typeof part['input'] !== 'string') return part
  return { ...part, input: readInput(part['input']) }
}

function readInput(text: string): Json {
  if (text.trim() === '') return {}
  try {
    const value: Json = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Told as what it is.
  }
  return { INVALID_JSON: text }
}
