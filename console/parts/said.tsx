import type { Json, TranscriptNode } from '../api.ts'
import { Value } from './text.tsx'

/** What was said in one piece of a transcript, part by part. */
export function Said({ node }: { node: TranscriptNode }) {
  if ('text' in node) return <Value value={node.text} label={node.type} />
  const parts = node.content.map(toPart)
  const isWhole = parts.every((part) => part !== undefined)
  return (
    <>
      {parts.map(
        (part, index) =>
          part !== undefined && (
            // oxlint-disable-next-line react/no-array-index-key
            <div key={index}>
              {part.tool !== undefined && (
                <p>
                  <code>{part.tool}</code> <small>{part.verb}</small>
                </p>
              )}
              <Value value={part.value} label={`${part.verb} ${part.tool ?? ''}`.trim()} />
            </div>
          ),
      )}
      {!isWhole && (
        <details>
          <summary>As the provider has it</summary>
          <Value value={node.content} label={node.type} />
        </details>
      )}
    </>
  )
}

interface Part {
  readonly verb: string
  readonly tool?: string
  readonly value: Json
}

/** A part of the AI SDK that people read; undefined for what only the provider does. */
function toPart(part: Json): Part | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined
  const { type, text, toolName, input, output } = part
  if (type === 'text' && typeof text === 'string') return { verb: 'said', value: text }
  if (type === 'reasoning' && typeof text === 'string') return { verb: 'thought', value: text }
  if (typeof toolName !== 'string') return undefined
  if (type === 'tool-call') return { verb: 'is called', tool: toolName, value: toValue(input) }
  return type === 'tool-result' ? { verb: 'answered', tool: toolName, value: toAnswer(output) } : undefined
}

/** Models write their inputs as the text of JSON. */
function toValue(input: Json | undefined): Json {
  if (typeof input !== 'string') return input ?? null
  try {
    const value: Json = JSON.parse(input)
    return value
  } catch {
    // The model wrote something else.
    return input
  }
}

/** What went back, out of its wrapping. */
function toAnswer(output: Json | undefined): Json {
  const isWrapped = typeof output === 'object' && output !== null && !Array.isArray(output)
  return (isWrapped ? output['value'] : undefined) ?? output ?? null
}
