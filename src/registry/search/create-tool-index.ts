import type { IndexedTool, ToolIndex } from '../../contract/registry.ts'
import { toQueryWords } from './query-words.ts'
import { readTools } from './read-tools.ts'
import { toPostings } from './to-postings.ts'

/** So many results are put in order first: more are rarely looked at. */
const firstResults = 16

/** Words that a query does not have itself count less than this. */
const relatedWeight = 0.35

/**
 * Indexes tools for searches in plain words. What is found comes in order: the best first (BM25+ over the words of names, descriptions and parameters), and
 * of two that are as good, the one that was handed over first. It asks no model and no network, and the same words always find the same.
 */
export function createToolIndex<Tool>(
  tools: readonly Tool[],
  read: (tool: Tool) => IndexedTool,
): ToolIndex<Tool> {
  const terms = new Map<string, number>()
  const { starts, tools: owners, impacts } = toPostings(readTools(tools.map(read), terms), terms.size)
  const scores = new Float64Array(tools.length)
  const touched = new Uint32Array(tools.length)
  const add = (term: number, weight: number, before: number): number => {
    const end = starts[term + 1] ?? 0
    let count = before
    for (let at = starts[term] ?? 0; at < end; at++) {
      const tool = owners[at] as number
      const score = scores[tool] as number
      if (score === 0) touched[count++] = tool
      scores[tool] = score + weight * (impacts[at] as number)
    }
    return count
  }
  // perf: a word that the query does not have itself is worth a look at few tools only.
  const mostRelated = Math.max(200, tools.length / 20)
  /** What a term counts: those that many tools have say little. */
  const weigh = (term: number, weight: number): number => {
    const owned = (starts[term + 1] ?? 0) - (starts[term] ?? 0)
    if (weight < relatedWeight && owned > mostRelated) return 0
    return weight * Math.log(1 + (tools.length - owned + 0.5) / (owned + 0.5))
  }
  /** The numbers of the best tools in order, at most so many. */
  const rank = (query: string, most: number): readonly number[] => {
    let count = 0
    for (const [word, weight] of toQueryWords(query)) {
      const term = terms.get(word)
      const counted = term === undefined ? 0 : weigh(term, weight)
      if (term !== undefined && counted > 0) count = add(term, counted, count)
    }
    const found = touched.subarray(0, count)
    const best = takeBest(found, scores, most)
    // perf: many places one by one would take longer than all of them in a row.
    if (count > tools.length / 16) scores.fill(0)
    else for (let at = 0; at < count; at++) scores[touched[at] as number] = 0
    return best
  }
  return {
    size: tools.length,
    *search(query) {
      const first = rank(query, firstResults)
      yield* first.map((tool) => tools[tool] as Tool)
      if (first.length < firstResults) return
      const all = rank(query, tools.length)
      yield* all.slice(firstResults).map((tool) => tools[tool] as Tool)
    },
  }
}

/** The numbers with the highest scores, the highest first; of two that are equal, the lower number. */
function takeBest(found: Uint32Array, scores: Float64Array, most: number): readonly number[] {
  const compare = (one: number, other: number): number =>
    (scores[other] as number) - (scores[one] as number) || one - other
  if (found.length <= most) return [...found].sort(compare)
  const best = [...found.subarray(0, most)].sort(compare)
  let least = scores[best[most - 1] as number] as number
  // perf: most are passed over by one comparison of numbers.
  for (let at = most; at < found.length; at++) {
    const tool = found[at] as number
    if ((scores[tool] as number) < least || compare(tool, best[most - 1] as number) > 0) continue
    let place = most - 1
    for (; place > 0 && compare(tool, best[place - 1] as number) < 0; place--)
      best[place] = best[place - 1] as number
    best[place] = tool
    least = scores[best[most - 1] as number] as number
  }
  return best
}
