/** About so many characters are a token. */
const charactersOfToken = 4
/** About what providers count for an image, in characters: its bytes are not read as text. */
const charactersOfMedia = 6_000
const media = new Set(['file', 'media', 'image-data', 'file-data', 'reasoning-file'])

/** About how many tokens a part of a request is. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(countCharacters(value) / charactersOfToken)
}

function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return charactersOfToken
  if ('type' in value && media.has(String(value.type))) return charactersOfMedia
  let sum = 0
  for (const [key, each] of Object.entries(value))
    sum += (Array.isArray(value) ? 0 : key.length) + countCharacters(each)
  return sum
}
