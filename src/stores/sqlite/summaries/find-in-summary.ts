import type { RecordQuery } from '../../../contract/store.ts'
import { matchPattern } from '../../../kit/match/match-pattern.ts'
import type { Shape, Summary } from './summary.ts'

/** Finds the places in a summary, in order, of the records that a query asks for, between these (the second one left out). */
export type Finder = (summary: Summary, from: number, to: number) => number[]

/** A finder for what a query asks of each record; where it is asks the caller. */
export function createFinder(query: RecordQuery): Finder {
  const { since } = query
  const session = query.session?.toWellFormed()
  const fits = createShapeFilter(query)
  return (summary, from, to) => {
    const { shapes, sessions, shapeOf, sessionOf, made } = summary
    const ofSession = session === undefined ? -1 : sessions.indexOf(session)
    const fitting = shapes.map(fits)
    if ((session !== undefined && ofSession < 0) || !fitting.includes(true)) return []
    const earliest = since === undefined ? undefined : since - summary.from
    const found: number[] = []
    for (let place = from; place < to; place++)
      if (
        (ofSession < 0 || sessionOf[place] === ofSession) &&
        fitting[shapeOf[place] ?? 0] === true &&
        (earliest === undefined || (made[place] ?? 0) >= earliest)
      )
        found.push(place)
    return found
  }
}

function createShapeFilter({ kind, tool, actor, outcome }: RecordQuery): (shape: Shape) => boolean {
  const known = new Map<string, boolean>()
  const isOfTool = (pattern: string, name: string): boolean => {
    const before = known.get(name)
    if (before !== undefined) return before
    const fits = matchPattern(pattern, name)
    known.set(name, fits)
    return fits
  }
  return (shape) =>
    (kind === undefined || shape.kind === kind) &&
    (actor === undefined || shape.actor === actor.toWellFormed()) &&
    (outcome === undefined || shape.outcome === outcome) &&
    (tool === undefined || (shape.tool !== undefined && isOfTool(tool.toWellFormed(), shape.tool)))
}
