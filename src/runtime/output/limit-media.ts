import type { ContentBlock } from '../../contract/base/result.ts'
import type { Wholes } from './keep-wholes.ts'

/** So many images and sounds of a result are shown. */
const maxShown = 5
/** Larger ones are not. */
const maxBytes = 10 * 1024 * 1024
/** So many of the others are artifacts of their own; what is more is one artifact. */
const maxKept = 50
/** What models take. */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Whether some images or sounds of the content are not shown. */
export function exceedsMedia(content: readonly ContentBlock[]): boolean {
  let count = 0
  return content.some((block) => isMedia(block) && (++count > maxShown || whyNot(block) !== undefined))
}

/** The content with the first images and sounds of it; the others, and those that no model takes, become artifacts. */
export async function limitMedia(content: readonly ContentBlock[], wholes: Wholes): Promise<ContentBlock[]> {
  const limited: ContentBlock[] = []
  const others: Media[] = []
  let shown = 0
  let kept = 0
  for (const block of content) {
    const why = isMedia(block) ? (whyNot(block) ?? (++shown > maxShown ? tooMany : undefined)) : undefined
    if (!isMedia(block) || why === undefined) limited.push(block)
    else if (++kept > maxKept) others.push(block)
    else {
      const artifact = await wholes.put(Buffer.from(block.data, 'base64'), block.mimeType)
      limited.push({ type: 'artifact_ref', artifact, note: `${block.type}, ${why}` })
    }
  }
  if (others.length === 0) return limited
  const artifact = await wholes.put(JSON.stringify(others), 'application/json')
  return [...limited, { type: 'artifact_ref', artifact, note: `${others.length} more images and sounds` }]
}

type Media = Extract<ContentBlock, { data: string }>

const tooMany = `not shown: a result shows ${maxShown}`

function isMedia(block: ContentBlock): block is Media {
  return block.type === 'image' || block.type === 'audio'
}

function whyNot({ type, data, mimeType }: Media): string | undefined {
  if ((data.length * 3) / 4 > maxBytes) return `not shown: it has more than ${maxBytes} bytes`
  const [essence = ''] = mimeType.toLowerCase().split(';', 1)
  const fits = type === 'image' ? imageTypes.has(essence.trim()) : essence.trim().startsWith('audio/')
  return fits ? undefined : 'not shown: models take no such type'
}
