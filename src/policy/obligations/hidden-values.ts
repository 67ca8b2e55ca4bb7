/** Where a value occurs, and what is to stand there. */
export interface Occurrence {
  readonly start: number
  readonly end: number
  readonly mark: string
}

/** Values that must not turn up in texts. */
export interface HiddenValues {
  add(value: string, mark: string): void
  /** Every occurrence, the longest at each place; undefined if the budget ran out. */
  find(text: string, budget: { steps: number }): readonly Occurrence[] | undefined
}

interface Node {
  /** By UTF-16 unit. */
  readonly next: Map<number, Node>
  /** Values that begin like this, the longest first: one that ends here, or long ones. */
  ends: readonly { value: string; mark: string }[]
}

/** Longer values are told apart by their beginnings and then compared. */
const maxDepth = 64

/**
 * Looks for any number of values in one pass. Numbers and values of less than four characters count as whole words only: they
 * would turn up everywhere.
 */
export function createHiddenValues(): HiddenValues {
  const root = createNode()
  return {
    add(value, mark) {
      if (value === '' || value === mark) return
      insert(root, value, mark)
      // As it stands in JSON text.
      const quoted = JSON.stringify(value).slice(1, -1)
      if (quoted !== value) insert(root, quoted, mark)
    },
    find(text, budget) {
      if (root.next.size === 0) return []
      budget.steps -= text.length >>> 3
      const found: Occurrence[] = []
      for (let at = 0; at < text.length;) {
        const longest = findLongest(root, { text, at, budget })
        if (longest !== undefined) found.push(longest)
        at = longest?.end ?? at + 1
      }
      return budget.steps < 0 ? undefined : found
    },
  }
}

function createNode(): Node {
  return { next: new Map(), ends: [] }
}

function insert(root: Node, value: string, mark: string): void {
  let node = root
  for (let index = 0; index < Math.min(value.length, maxDepth); index++) {
    const unit = value.charCodeAt(index)
    let next = node.next.get(unit)
    if (next === undefined) node.next.set(unit, (next = createNode()))
    node = next
  }
  const others = node.ends.filter((end) => end.value !== value)
  node.ends = [...others, { value, mark }].sort((a, b) => b.value.length - a.value.length)
}

interface Position {
  text: string
  at: number
  budget: { steps: number }
}

function findLongest(root: Node, { text, at, budget }: Position): Occurrence | undefined {
  let longest: Occurrence | undefined
  let node = root.next.get(text.charCodeAt(at))
  for (let depth = 1; node !== undefined && budget.steps > 0; depth++) {
    budget.steps -= 1 + node.ends.length
    const end = node.ends.find(({ value }) => text.startsWith(value, at) && standsAlone(text, at, value))
    if (end !== undefined) longest = { start: at, end: at + end.value.length, mark: end.mark }
    node = node.next.get(text.charCodeAt(at + depth))
  }
  return longest
}

function standsAlone(text: string, at: number, value: string): boolean {
  if (value.length >= 4 && !/^-?[\d.]+$/.test(value)) return true
  return !isWord(text[at - 1]) && !isWord(text[at + value.length])
}

function isWord(letter: string | undefined): boolean {
  return letter !== undefined && /[\p{L}\p{N}_]/u.test(letter)
}
