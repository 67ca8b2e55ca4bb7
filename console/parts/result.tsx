import type { Json, JsonObject } from '../api.ts'
import { Value } from './text.tsx'

/** Kinds of images that a browser shows and that hold no program. */
const shown: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** What a result says, block by block, and behind that all of it as it is kept. */
export function Result({ result }: { result: JsonObject }) {
  const content = Array.isArray(result['content']) ? result['content'] : []
  return (
    <>
      {content.map((block, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <Block key={index} block={block} place={index + 1} />
      ))}
      <details>
        <summary>All of the result</summary>
        <Value value={result} label="Result" />
      </details>
    </>
  )
}

function Block({ block, place }: { block: Json; place: number }) {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return null
  const { type, text, json, data, mimeType } = block
  const label = `Block ${place} of the result`
  if (type === 'text' && typeof text === 'string') return <Value value={text} label={label} />
  if (type === 'json' && json !== undefined) return <Value value={json} label={label} />
  if (typeof data !== 'string' || typeof mimeType !== 'string') return <Value value={block} label={label} />
  if (type !== 'image' || !shown.has(mimeType)) return <p class="empty">{mimeType}, not shown here</p>
  return <img class="seen" src={`data:${mimeType};base64,${data}`} alt={`Image ${place} of the result`} />
}
