import { fieldCount, type ToolWords } from './read-tools.ts'

/** Which tools have a term, and how much it says of each: those of the term `t` stand from `starts[t]` to `starts[t + 1]`. */
export interface Postings {
  readonly starts: Uint32Array
  readonly tools: Uint32Array
  readonly impacts: Float32Array
}

/** How much a word counts by the field that it stands in, and how much less if that is longer than usual. */
const fields = [
  { weight: 2.5, length: 0.3 },
  { weight: 1.5, length: 0.3 },
  { weight: 1, length: 1 },
  { weight: 0.8, length: 0.5 },
  { weight: 0.25, length: 0.3 },
] as const

/** How soon more of the same word counts no more. */
const saturation = 4
/** What a word counts for being there at all, so that a tool with long texts is found among tools with short ones (BM25+). */
const presence = 0.13

/** Says for each term which tools have it (BM25+ over several fields). */
export function toPostings({ words, ends }: ToolWords, termCount: number): Postings {
  const toolCount = ends.length / fieldCount
  const usual = usualLengths(ends, toolCount)
  const weights = new Float32Array(termCount)
  const seen = new Uint32Array(termCount)
  // A tool has no more terms than words.
  const own = new Uint32Array(words.length)
  const ownImpacts = new Float32Array(words.length)
  const ownEnds = new Uint32Array(toolCount)
  const starts = new Uint32Array(termCount + 1)
  let count = 0
  let at = 0
  for (let tool = 0; tool < toolCount; tool++) {
    const first = count
    for (let field = 0; field < fieldCount; field++) {
      const end = ends[tool * fieldCount + field] ?? 0
      const { weight, length } = fields[field] ?? fields[0]
      const share = weight / (1 - length + (length * (end - at)) / (usual[field] ?? 1))
      for (; at < end; at++) {
        const term = words[at] ?? 0
        if (seen[term] !== tool + 1) {
          seen[term] = tool + 1
          weights[term] = 0
          own[count++] = term
        }
        weights[term] = (weights[term] ?? 0) + share
      }
    }
    for (let place = first; place < count; place++) {
      const term = own[place] ?? 0
      const weight = weights[term] ?? 0
      ownImpacts[place] = presence + weight / (saturation + weight)
      starts[term + 1] = (starts[term + 1] ?? 0) + 1
    }
    ownEnds[tool] = count
  }
  for (let term = 0; term < termCount; term++)
    starts[term + 1] = (starts[term + 1] ?? 0) + (starts[term] ?? 0)
  return { starts, ...sortByTerm({ own, ownImpacts, ownEnds, starts }) }
}

function sortByTerm(found: {
  readonly own: Uint32Array
  readonly ownImpacts: Float32Array
  readonly ownEnds: Uint32Array
  readonly starts: Uint32Array
}): Omit<Postings, 'starts'> {
  const { own, ownImpacts, ownEnds, starts } = found
  const count = starts.at(-1) ?? 0
  const next = starts.slice()
  const tools = new Uint32Array(count)
  const impacts = new Float32Array(count)
  let place = 0
  for (const [tool, end] of ownEnds.entries())
    for (; place < end; place++) {
      const term = own[place] ?? 0
      const to = next[term] ?? 0
      next[term] = to + 1
      tools[to] = tool
      impacts[to] = ownImpacts[place] ?? 0
    }
  return { tools, impacts }
}

/** How long each field is in the mean. */
function usualLengths(ends: Uint32Array, toolCount: number): Float64Array {
  const lengths = new Float64Array(fieldCount)
  for (const [place, end] of ends.entries()) {
    const field = place % fieldCount
    lengths[field] = (lengths[field] ?? 0) + end - (ends[place - 1] ?? 0)
  }
  return lengths.map((length) => length / toolCount || 1)
}
