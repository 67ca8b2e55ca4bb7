/** Says whether one of some short texts is in another one, many times faster than a pattern of them would. */
export type QuickLook = (text: string) => boolean

/** Every three letters, by the last five bits of each. */
const places = 1 << 15

/** A look for these texts, of three letters at least. */
export function createQuickLook(texts: Iterable<string>): QuickLook {
  const table = new Uint16Array(places)
  const found: string[][] = [[]]
  for (const text of new Set(texts)) {
    let place = 0
    for (let index = 0; index < 3; index++) place = step(place, text.charCodeAt(index))
    if (table[place] === 0) table[place] = found.push([]) - 1
    found[table[place] ?? 0]?.push(text)
  }
  return (text) => {
    let place = 0
    for (let index = 0; index < text.length; index++) {
      place = step(place, text.charCodeAt(index))
      const bucket = table[place]
      if (bucket === undefined || bucket === 0) continue
      for (const each of found[bucket] ?? []) if (text.startsWith(each, index - 2)) return true
    }
    return false
  }
}

function step(place: number, letter: number): number {
  return ((place << 5) | (letter & 31)) & (places - 1)
}
