import type { RecordQuery } from '../../../contract/store.ts'
import { wordsFor } from '../../../kit/names/renamed-words.ts'
import { matchPattern } from '../../../kit/match/match-pattern.ts'
import type { Shape, Summary } from './summary.ts'

/** Finds what a query asks of each record. Where the records are, asks the caller. */
export interface Finder {
  /** Whether records of this shape may be asked for. */
  fits: (shape: Shape) => boolean
  /** The places in a summary, in order, of the records that are asked for, from one place on and before another. */
  find: (summary: Summary, from: number, to: number) => number[]
}

/** A finder for a query. */
export function createFinder(query: RecordQuery): Finder {
  const session = query.session?.toWellFormed()
  const fits = createShapeFilter(query)
  return {
    fits,
    find(summary, from, to) {
      const { shapes, sessions, shapeOf, sessionOf, made } = summary
      const ofSession = session === undefined ? -1 : sessions.indexOf(session)
      const fitting = shapes.map(fits)
      if ((session !== undefined && ofSession < 0) || !fitting.includes(true)) return []
      const earliest = query.since === undefined ? undefined : query.since - summary.from
      const latest = query.until === undefined ? undefined : query.until - summary.from
      const found: number[] = []
      for (let place = from; place < to; place++)
        if (
          (ofSession < 0 || sessionOf[place] === ofSession) &&
          fitting[shapeOf[place] ?? 0] === true &&
          (earliest === undefined || (made[place] ?? 0) >= earliest) &&
          (latest === undefined || (made[place] ?? 0) < latest)
        )
          found.push(place)
      return found
    },
  }
}

/** A note in a summary by a Handrail that did not look at events. */
function mayBeAny({ kind, event }: Shape): boolean {
  return event === undefined && kind === 'note'
}

function createShapeFilter(query: RecordQuery): (shape: Shape) => boolean {
  const { kind, outcome } = query
  const events = query.event === undefined ? undefined : wordsFor(query.event)
  const [tool, actor] = [query.tool?.toWellFormed(), query.actor?.toWellFormed()]
  /** Summaries of one store share their shapes. */
  const known = new Map<Shape, boolean>()
  const fits = (shape: Shape): boolean =>
    (kind === undefined || shape.kind === kind) &&
    (actor === undefined || shape.actor === actor) &&
    (outcome === undefined || shape.outcome === outcome) &&
    (events === undefined || events.includes(shape.event ?? '') || mayBeAny(shape)) &&
    (tool === undefined || (typeof shape.tool === 'string' && matchPattern(tool, shape.tool)))
  return (shape) => {
    let answer = known.get(shape)
    if (answer === undefined) known.set(shape, (answer = fits(shape)))
    return answer
  }
}
