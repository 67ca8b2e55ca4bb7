import { afterAll, beforeAll, onTestFinished } from 'vitest'

type Undo = () => unknown

let shared: Undo[] | undefined

/** Does this when the test ends; for what `keepOpen` is making, when its block ends. */
export function atEnd(undo: Undo): void {
  if (shared === undefined) onTestFinished(async () => void (await undo()))
  else shared.push(undo)
}

/** Makes something once for all tests of a block; what it registers with `atEnd` is undone when the block ends, last things first. */
export function keepOpen<T>(make: () => T | Promise<T>): () => T {
  const undoing: Undo[] = []
  let made: { readonly value: T } | undefined
  beforeAll(async () => {
    shared = undoing
    try {
      made = { value: await make() }
    } finally {
      shared = undefined
    }
  })
  afterAll(async () => {
    for (const undo of undoing.toReversed()) await undo()
  })
  return () => {
    if (made === undefined) throw new Error('It is there only while tests of its block run.')
    return made.value
  }
}
