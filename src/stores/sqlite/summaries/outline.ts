import { decodeColumns, encodeColumns, shapeWith, textOf, type Shape, type Summary } from './summary.ts'

/** What tells whether a part of a chain has something of what is asked, without its summary. */
export interface PartOutline extends Pick<Summary, 'earliest' | 'latest' | 'shapes'> {
  hasBodies: boolean
  /** A number for each session, which another session may have too. */
  sessions: Uint32Array
}

/** So many parts of a chain, one after another, have one outline. */
export const partsPerOutline = 16

/** What is kept of a part beside its sessions: times, whether it has bodies, places of its shapes, and how many sessions it has. */
type KeptPart = [earliest: number, latest: number, hasBodies: number, shapes: number[], sessions: number]

interface Start {
  shapes: string[]
  parts: KeptPart[]
}

/** What an outline says of a part with this summary. */
export function outlineOf({
  summary: { earliest, latest, shapes, sessions },
  bodies,
}: {
  summary: Summary
  bodies: number
}): PartOutline {
  return { earliest, latest, shapes, sessions: Uint32Array.from(sessions, toNumber), hasBodies: bodies > 0 }
}

/** The outlines of parts as bytes. */
export function encodeOutline(parts: readonly PartOutline[]): Uint8Array {
  const places = new Map<string, number>()
  const placeOf = (shape: Shape): number => {
    const text = textOf(shape)
    const place = places.get(text) ?? places.size
    places.set(text, place)
    return place
  }
  const kept = parts.map(({ earliest, latest, hasBodies, shapes, sessions }): KeptPart => {
    return [earliest, latest, Number(hasBodies), shapes.map(placeOf), sessions.length]
  })
  const start: Start = { shapes: [...places.keys()], parts: kept }
  return encodeColumns(
    start,
    parts.map(({ sessions }) => sessions),
  )
}

/** Reads what `encodeOutline` returned; `known` holds the shapes that were read, by their text. */
export function decodeOutline(bytes: Uint8Array, known: Map<string, Shape>): PartOutline[] {
  const { line, buffer, columns } = decodeColumns(bytes)
  const { shapes: texts, parts }: Start = JSON.parse(line)
  const all = texts.map((text) => shapeWith(text, known))
  let at = columns
  return parts.map(([earliest, latest, hasBodies, places, count]) => {
    const sessions = new Uint32Array(buffer, at, count)
    at += sessions.byteLength
    const shapes = places.flatMap((place) => all[place] ?? [])
    return { earliest, latest, hasBodies: hasBodies === 1, shapes, sessions }
  })
}

/** The same number for the same text (FNV-1a). */
export function toNumber(text: string): number {
  let number = 0x811c9dc5
  const wellFormed = text.toWellFormed()
  for (let i = 0; i < wellFormed.length; i++)
    number = Math.imul(number ^ wellFormed.charCodeAt(i), 0x01000193)
  return number >>> 0
}
