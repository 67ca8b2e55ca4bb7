import {
  matchesPart,
  matchesWords,
  type CommandPattern,
  type PartPattern,
} from '../../kit/shell/command-pattern.ts'
import type { CommandView } from './command-view.ts'
import type { Coverable, Part } from './find-parts.ts'
import type { Runs } from './find-runs.ts'

/** Whether a rule that allows covers a command for sure. */
export function coversPart(patterns: readonly CommandPattern[], part: Part): boolean {
  return patterns.some(({ parts, redirects }) => {
    const [pattern] = parts
    if (pattern === undefined || parts.length > 1 || redirects) return false
    if (part.exactOnly && !pattern.exact) return false
    return covers(pattern, part.inner, part.runsWords) || covers(pattern, part.outer, part.runsWords)
  })
}

function covers(pattern: PartPattern, command: Coverable | undefined, runsWords: boolean): boolean {
  if (command === undefined) return false
  const { view, reach } = command
  // What only a shell knows may become several words.
  if (pattern.inWord && view.known < view.rest.length) return false
  const wordByWord = pattern.anyProgram || (runsWords && pattern.closed)
  return matchesName(pattern, view, (name) => {
    if (reach > 0 && pattern.prefix.length < name.length + reach) return false
    return wordByWord
      ? matchesWords(pattern, name + view.rest.slice(0, view.known), view.known < view.rest.length)
      : matchesPart(pattern, name + view.rest)
  })
}

/**
 * Whether a rule that denies or asks is met: `yes` where each command that a pattern names is among what may be run, `unsure` where
 * one may be, and that cannot be told.
 */
export function meetsRuns(patterns: readonly CommandPattern[], runs: Runs): 'yes' | 'unsure' | 'no' {
  let met: 'yes' | 'unsure' | 'no' = 'no'
  for (const { parts } of patterns) {
    const found = meetsAll(parts, runs)
    if (found === 'yes') return 'yes'
    if (found === 'unsure') met = 'unsure'
  }
  return met
}

function meetsAll(parts: readonly PartPattern[], runs: Runs): 'yes' | 'unsure' | 'no' {
  let met: 'yes' | 'unsure' | 'no' = parts.length > 0 ? 'yes' : 'no'
  for (const part of parts) {
    const found = meetsViews(part, runs)
    if (found === 'no') return 'no'
    if (found === 'unsure') met = 'unsure'
  }
  return met
}

function meetsViews(pattern: PartPattern, { views, possible, hidden }: Runs): 'yes' | 'unsure' | 'no' {
  const isMet = (view: CommandView) =>
    matchesName(pattern, view, (name) => matchesPart(pattern, name + view.rest))
  if (views.some(isMet)) return 'yes'
  const mayBe = (view: CommandView) => isMet(view) || couldMatch(pattern, view)
  return hidden || views.some(mayBe) || possible.some(mayBe) ? 'unsure' : 'no'
}

/** Whether the part of a command that is known leaves open whether the pattern matches. */
function couldMatch(pattern: PartPattern, view: CommandView): boolean {
  if (view.known >= view.rest.length) return false
  return matchesName(pattern, view, (name) => {
    const known = name + view.rest.slice(0, view.known)
    return known.startsWith(pattern.prefix) || pattern.prefix.startsWith(known)
  })
}

/** Whether this holds for a name of the program by which the pattern may call it. */
function matchesName(
  { byPath, prefix }: PartPattern,
  { name, paths }: CommandView,
  holds: (name: string) => boolean,
): boolean {
  const fits = (each: string) => (prefix.startsWith(each) || each.startsWith(prefix)) && holds(each)
  return byPath ? paths.some(fits) : name !== undefined && fits(name)
}
