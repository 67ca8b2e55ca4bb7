import { showControlsInLine } from './show-controls.ts'

/** The first ones: there may be many. */
const maxShown = 10

/** Paths in quotes, for a sentence: the first ten, and how many there are beside them. */
export function quoted(paths: readonly string[]): string {
  const shown = paths.slice(0, maxShown).map((path) => `"${showControlsInLine(path)}"`)
  return `${shown.join(', ')}${paths.length > maxShown ? ` and ${paths.length - maxShown} more` : ''}`
}
