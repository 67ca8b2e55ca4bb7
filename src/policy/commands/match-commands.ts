import { matchesPart, type CommandPattern, type PartPattern } from '../../kit/shell/command-pattern.ts'
import type { CommandView } from './command-view.ts'
import type { Part } from './find-parts.ts'
import type { Runs } from './find-runs.ts'

/** Whether a rule that allows covers a command for sure. */
export function coversPart(patterns: readonly CommandPattern[], part: Part): boolean {
  return patterns.some(({ parts, redirects }) => {
    const [pattern] = parts
    if (pattern === undefined || parts.length > 1 || redirects) return false
    if (part.exactOnly && !pattern.exact) return false
    return covers(pattern, part.inner, 0) || covers(pattern, part.outer?.view, part.outer?.reach ?? 0)
  })
}

/** A pattern must name what it covers by itself as far as `reach`. */
function covers(pattern: PartPattern, view: CommandView | undefined, reach: number): boolean {
  if (view === undefined) return false
  // What only a shell knows may become several words.
  if (pattern.inWord && view.known < view.rest.length) return false
  return namesFor(pattern, view).some(
    (name) =>
      (reach === 0 || pattern.prefix.length >= name.length + reach) && matchesPart(pattern, name + view.rest),
  )
}

/**
 * Whether a rule that denies or asks is met: `yes` where each command that a pattern names is among what may be run, `unsure` where
 * one may be, and that cannot be told.
 */
export function meetsRuns(patterns: readonly CommandPattern[], runs: Runs): 'yes' | 'unsure' | 'no' {
  let met: 'yes' | 'unsure' | 'no' = 'no'
  for (const { parts } of patterns) {
    const found = parts.map((part) => meetsViews(part, runs))
    if (found.length > 0 && found.every((each) => each === 'yes')) return 'yes'
    if (found.length > 0 && !found.includes('no')) met = 'unsure'
  }
  return met
}

function meetsViews(pattern: PartPattern, { views, hidden }: Runs): 'yes' | 'unsure' | 'no' {
  if (views.some((view) => namesFor(pattern, view).some((name) => matchesPart(pattern, name + view.rest))))
    return 'yes'
  return hidden || views.some((view) => couldMatch(pattern, view)) ? 'unsure' : 'no'
}

/** Whether the part of a command that is known leaves open whether the pattern matches. */
function couldMatch(pattern: PartPattern, view: CommandView): boolean {
  if (view.known >= view.rest.length) return false
  return namesFor(pattern, view).some((name) => {
    const known = name + view.rest.slice(0, view.known)
    return known.startsWith(pattern.prefix) || pattern.prefix.startsWith(known)
  })
}

function namesFor(pattern: PartPattern, { name, paths }: CommandView): readonly string[] {
  if (pattern.byPath) return paths
  return name === undefined ? [] : [name]
}
