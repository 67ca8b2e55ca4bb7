import { splitWords } from './split-words.ts'
import { stemWord } from './stem-word.ts'

/** How soon a word counts no more for being said again, and how much a long text is worth less: the usual numbers of BM25. */
const repeats = 1.2
const lengths = 0.75

/** Ranks texts by the words of a query. */
export interface TextRanking {
  /** The numbers of the texts that have a word of the query, the best first; of two that are as good, the earlier one. */
  rank(query: string): readonly number[]
}

/** Reads texts for searches in plain words (BM25). The same words always find the same. */
export function rankTexts(texts: readonly string[]): TextRanking {
  const lists = new Map<string, Map<number, number>>()
  const sizes = texts.map((text, index) => {
    const words = stems(text)
    for (const word of words) {
      const list = lists.get(word) ?? new Map<number, number>()
      lists.set(word, list.set(index, (list.get(index) ?? 0) + 1))
    }
    return words.length
  })
  const mean = sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, texts.length) || 1
  return {
    rank(query) {
      const scores = new Map<number, number>()
      for (const word of new Set(stems(query))) {
        const list = lists.get(word) ?? new Map<number, number>()
        const weight = Math.log(1 + (texts.length - list.size + 0.5) / (list.size + 0.5))
        for (const [index, count] of list) {
          const length = 1 - lengths + (lengths * (sizes[index] ?? 0)) / mean
          const score = (weight * count * (repeats + 1)) / (count + repeats * length)
          scores.set(index, (scores.get(index) ?? 0) + score)
        }
      }
      return [...scores]
        .toSorted((one, other) => other[1] - one[1] || one[0] - other[0])
        .map(([index]) => index)
    },
  }
}

function stems(text: string): string[] {
  const words: string[] = []
  splitWords(text, (word) => words.push(stemWord(word)))
  return words
}
