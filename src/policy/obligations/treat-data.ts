import type { Issue, Json } from '../../contract/base/json.ts'
import { parsePointer, pointerTo } from '../../kit/json/json-pointer.ts'
import type { Classified } from './classified.ts'
import type { HidingRule } from './compiled-rule.ts'
import { hideText, redactedMark, type Hiding } from './hide.ts'
import { childrenOf, read, remove, toRoot, write, type Place } from './places.ts'
import { findPointed } from './pointers.ts'
import type { TextHider } from './text-hider.ts'

/** A rule with what the output schema says of its classifications. */
export interface DataRule extends HidingRule {
  readonly classified: Classified | undefined
}

/** The data with everything hidden, and the rules because of which it does not fit its schema any more. */
export interface TreatedData {
  readonly data: Json
  readonly misfits: readonly HidingRule[]
}

/** A place that was changed, and what became of its value: a mark, then `null`, then nothing. */
interface Change {
  readonly place: Place
  /** Those that made it, or may have made it. */
  readonly rules: readonly HidingRule[]
  state: 'marked' | 'null' | 'gone'
}

/**
 * Hides what pointers, classifications and patterns name in a copy of the data. Where a mark does not fit the schema it
 * becomes `null`, and where that does not fit either, the member is left out.
 */
export function treatData(
  given: Json,
  rules: readonly DataRule[],
  { hider, findIssues }: { hider: TextHider; findIssues: (data: Json) => readonly Issue[] },
): TreatedData {
  const root = toRoot(structuredClone(given))
  const changes = new Map<string, Change>()
  for (const rule of rules) {
    for (const place of findPlaces(root, rule))
      hideValue(place, rule.hiding, { hider, changes, rules: [rule] })
  }
  hideInStrings(root, { hider, changes, rules })
  if (changes.size === 0) return { data: given, misfits: [] }
  const all = [...changes.values()]
  const fits = fit(all, () => findIssues(read(root) ?? null))
  const misfits = fits ? [] : rules.filter((rule) => all.some((change) => change.rules.includes(rule)))
  return { data: read(root) ?? null, misfits }
}

function findPlaces(root: Place, rule: DataRule): Place[] {
  const pointed = rule.pointers.flatMap((segments) => findPointed(root, segments))
  return rule.classified === undefined ? pointed : [...pointed, ...rule.classified.find(root)]
}

interface Hide {
  readonly hider: TextHider
  readonly changes: Map<string, Change>
  readonly rules: readonly HidingRule[]
}

/** A string keeps a mark in its place, any other value becomes `null`; a mask looks into objects and arrays. */
function hideValue(place: Place, hiding: Hiding, hide: Hide): void {
  const value = read(place)
  if (value === null || value === undefined) return
  if (typeof value === 'object' && hiding === 'mask') {
    for (const child of childrenOf(place)) hideValue(child, hiding, hide)
    return
  }
  const mark = typeof value === 'string' ? hideText(value, hiding) : null
  // Hidden already: a result that was kept is treated again.
  if (mark === value) return
  forgetWithin(place, hide.hider)
  if (typeof value === 'string') hide.hider.hideEverywhere(value, hideText(value, hiding))
  write(place, mark)
  note(place, mark === null ? 'null' : 'marked', hide)
}

/** What stood in a value that is hidden as a whole must not turn up elsewhere. True, false and null say too little. */
function forgetWithin(place: Place, hider: TextHider): void {
  const value = read(place)
  if (typeof value === 'string') hider.hideEverywhere(value, redactedMark)
  else if (typeof value === 'number') hider.hideEverywhere(String(value), redactedMark)
  else for (const child of childrenOf(place)) forgetWithin(child, hider)
}

/** A number counts as the text that it would be shown as. */
function hideInStrings(place: Place, hide: Hide): void {
  const value = read(place)
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value)
    const clean = hide.hider.text(text)
    if (clean === text) return
    write(place, typeof value === 'string' ? clean : null)
    note(place, typeof value === 'string' ? 'marked' : 'null', hide)
    return
  }
  for (const child of childrenOf(place))
    hideInStrings(Array.isArray(value) ? child : rename(child, hide), hide)
}

/** The member under a name that may be shown. */
function rename(place: Place, hide: Hide): Place {
  const key = hide.hider.text(place.key)
  const value = read(place)
  if (key === place.key || value === undefined) return place
  remove(place)
  const moved = { ...place, key, pointer: pointerTo(place.pointer.replace(/\/[^/]*$/, ''), key) }
  write(moved, value)
  note(moved, 'marked', hide)
  return moved
}

function note(place: Place, state: Change['state'], { changes, rules }: Hide): void {
  changes.set(place.pointer, { place, state, rules })
}

/** Yields to the schema step by step. False if no change can yield any further. */
function fit(changes: readonly Change[], findIssues: () => readonly Issue[]): boolean {
  for (let issues = findIssues(); issues.length > 0; issues = findIssues()) {
    const faulty = new Set(issues.map((issue) => toShape(issue.pointer)))
    const given = changes.filter((change) => faulty.has(toShape(change.place.pointer)) && giveWay(change))
    if (given.length === 0) return false
  }
  return true
}

/** Places of one list have one shape: what is wrong with one is wrong with all. */
function toShape(pointer: string): string {
  return parsePointer(pointer)
    .map((segment) => (/^\d+$/.test(segment) ? '*' : segment))
    .join('/')
}

function giveWay(change: Change): boolean {
  const { place } = change
  if (change.state === 'marked') {
    write(place, null)
    change.state = 'null'
    return true
  }
  if (change.state === 'gone' || Array.isArray(place.holder) || place.pointer === '') return false
  remove(place)
  change.state = 'gone'
  return true
}
