import { decodeColumns, encodeColumns, shapeWith, textOf, type Shape, type Summary } from './summary.ts'

/** What tells whether a part of a chain has something of what is asked, without its summary. */
export interface PartOutline extends Pick<Summary, 'earliest' | 'latest'> {
  shapes: () => readonly Shape[]
  hasBodies: boolean
  /** Whether a call that began there may have no end. */
  hasOpen: boolean
  /** A number for each session, which another session may have too. */
  sessions: Uint32Array
}

/** What is known of parts of a chain, one after another: of all of them at once, and of each in order. */
export interface Outline extends PartOutline {
  parts: () => readonly PartOutline[]
}

/** So many parts of a chain, one after another, have one outline. */
export const partsPerOutline = 16

/** What is kept beside columns: times, whether there are bodies and open calls, and how many sessions and shapes. */
type Kept = [earliest: number, latest: number, bodies: number, open: number, sessions: number, shapes: number]

interface Start {
  all: Kept
  parts: Kept[]
}

/** What an outline says of a part with this summary. */
export function outlineOf({
  summary: { earliest, latest, shapes, sessions, open },
  bodies,
}: {
  summary: Summary
  bodies: number
}): PartOutline {
  return {
    earliest,
    latest,
    shapes: () => shapes,
    sessions: Uint32Array.from(sessions, toNumber),
    hasBodies: bodies > 0,
    hasOpen: open?.length !== 0,
  }
}

/** The outline of these parts as bytes: columns of sessions, columns of the places of shapes, and the texts of the shapes. */
export function encodeOutline(parts: readonly PartOutline[]): Uint8Array {
  const texts = new Map<string, number>()
  const placeOf = (shape: Shape): number => {
    const text = textOf(shape)
    const place = texts.get(text) ?? texts.size
    texts.set(text, place)
    return place
  }
  const places = parts.map(({ shapes }) => Uint16Array.from(shapes(), placeOf))
  const kept = parts.map(({ earliest, latest, hasBodies, hasOpen, sessions }, index): Kept => {
    return [earliest, latest, Number(hasBodies), Number(hasOpen), sessions.length, places[index]?.length ?? 0]
  })
  const all = kept.reduce((one, other) => [
    Math.min(one[0], other[0]),
    Math.max(one[1], other[1]),
    Math.max(one[2], other[2]),
    Math.max(one[3], other[3]),
    one[4] + other[4],
    one[5] + other[5],
  ])
  const start: Start = { all, parts: kept }
  return encodeColumns(start, [
    ...parts.map(({ sessions }) => sessions),
    ...places,
    Buffer.from(JSON.stringify([...texts.keys()])),
  ])
}

/**
 * Reads what `encodeOutline` returned; `known` holds the shapes that were read, by their text. Shapes and parts are read when they are asked for: of most
 * outlines, the sessions or times of all parts tell that nothing is there.
 */
export function decodeOutline(bytes: Uint8Array, known: Map<string, Shape>): Outline {
  const { line, buffer, columns } = decodeColumns(bytes)
  const { all, parts }: Start = JSON.parse(line)
  const sessions = new Uint32Array(buffer, columns, all[4])
  const endOfSessions = columns + sessions.byteLength
  const endOfPlaces = endOfSessions + all[5] * Uint16Array.BYTES_PER_ELEMENT
  const shapes = lazily(() => {
    const texts: string[] = JSON.parse(
      Buffer.from(buffer, endOfPlaces, bytes.length - endOfPlaces).toString(),
    )
    return texts.map((text) => shapeWith(text, known))
  })
  const readParts = lazily(() => {
    const places = new Uint16Array(buffer, endOfSessions, all[5])
    let [session, place] = [0, 0]
    return parts.map((part) => {
      const ofPart = places.subarray(place, (place += part[5]))
      return {
        ...toPart(part),
        sessions: sessions.subarray(session, (session += part[4])),
        shapes: lazily(() => Array.from(ofPart).flatMap((each) => shapes()[each] ?? [])),
      }
    })
  })
  return { ...toPart(all), sessions, shapes, parts: readParts }
}

function toPart([earliest, latest, bodies, open]: Kept) {
  return { earliest, latest, hasBodies: bodies === 1, hasOpen: open === 1 }
}

/** The same number for the same text (FNV-1a). */
export function toNumber(text: string): number {
  let number = 0x811c9dc5
  const wellFormed = text.toWellFormed()
  for (let i = 0; i < wellFormed.length; i++)
    number = Math.imul(number ^ wellFormed.charCodeAt(i), 0x01000193)
  return number >>> 0
}

function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
