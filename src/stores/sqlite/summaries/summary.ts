import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** So many records of a chain, one after another, have one summary. */
export const recordsPerSummary = 2048

/** The sequence before the part of a chain in which the record after this one is. */
export function startOf(after: number): number {
  return after - (after % recordsPerSummary)
}

/** What lists and figures ask of a record, but its session, time and duration: many records have the same. */
export interface Shape {
  readonly kind?: string | null | undefined
  readonly tool?: string | null | undefined
  readonly actor?: string | null | undefined
  readonly outcome?: string | null | undefined
  /** Of a note. Undefined in summaries by a Handrail that did not look at it: any note may be meant. */
  readonly event?: string | null | undefined
}

/** A summary as it is kept: shapes as JSON texts. */
interface Columns extends Omit<Summary, 'shapes'> {
  readonly shapes: readonly string[]
}

/** What lists and figures ask of the records of one part of a chain, in columns. */
export interface Summary {
  readonly shapes: readonly Shape[]
  readonly sessions: readonly string[]
  /** Of each record, its place in `shapes` and in `sessions`. */
  readonly shapeOf: Uint16Array
  readonly sessionOf: Uint16Array
  /** How long each call took, as `packDuration` returns it. */
  readonly took: Uint16Array
  /** Places of the begins of calls that had no end when this was made. Undefined in summaries by a Handrail that did not look at that. */
  readonly open?: readonly number[] | undefined
  /** When each record was made, since `from`. */
  readonly made: Uint32Array | Float64Array
  readonly from: number
  /** The first and last of these times. */
  readonly earliest: number
  readonly latest: number
}

/** Summarises the records with these texts. Whether a call that has no end among them has one asks `isOpen`. */
export function summarize(texts: readonly string[], isOpen: (call: string) => boolean): Columns {
  const shapes = createNames()
  const sessions = createNames()
  const shapeOf = new Uint16Array(texts.length)
  const sessionOf = new Uint16Array(texts.length)
  const took = new Uint16Array(texts.length)
  const made = new Float64Array(texts.length)
  const begun = new Map<unknown, number>()
  for (const [index, text] of texts.entries()) {
    const { kind, session, call, tool, actor, outcome, event, at, durationMs } = parseMembers(text)
    if (kind === 'begin') begun.set(call, index)
    if (kind === 'end') begun.delete(call)
    shapeOf[index] = shapes.placeOf(JSON.stringify([kind, tool, actor, outcome, event].map(toName)))
    sessionOf[index] = sessions.placeOf(toName(session) ?? '')
    took[index] = packDuration(typeof durationMs === 'number' ? durationMs : 0)
    made[index] = typeof at === 'number' ? at : Number.NaN
  }
  const open = [...begun].flatMap(([call, place]) => (isOpen(String(call)) ? [place] : []))
  return withTimes({ shapes: shapes.all(), sessions: sessions.all(), shapeOf, sessionOf, took, open }, made)
}

function withTimes(
  columns: Omit<Columns, 'made' | 'from' | 'earliest' | 'latest'>,
  made: Float64Array,
): Columns {
  // What a prune took was made at no time.
  const first = made.find((at) => !Number.isNaN(at)) ?? 0
  let [earliest, latest] = [first, first]
  for (const at of made) {
    if (at < earliest) earliest = at
    if (at > latest) latest = at
  }
  const isNear = latest - earliest < 2 ** 32 && made.every(Number.isInteger)
  return isNear
    ? { ...columns, made: Uint32Array.from(made, (at) => at - earliest), from: earliest, earliest, latest }
    : { ...columns, made, from: 0, earliest, latest }
}

/** A duration of which two digits are kept above 100 ms, in 16 bits. */
export function packDuration(ms: number): number {
  let digits = Math.max(0, Math.floor(ms))
  let zeros = 0
  while (digits >= 100) {
    digits = Math.floor(digits / 10)
    zeros++
  }
  return zeros * 100 + digits
}

/** The duration that was packed. */
export function unpackDuration(packed: number): number {
  return (packed % 100) * 10 ** Math.floor(packed / 100)
}

/** A summary as bytes: a line of JSON, filled up to eight bytes, and its columns behind it. */
export function encodeSummary(summary: Columns): Uint8Array {
  const { shapes, sessions, shapeOf, sessionOf, took, open, made, from, earliest, latest } = summary
  const start = { shapes, sessions, open, isNear: made instanceof Uint32Array, from, earliest, latest }
  return encodeColumns(start, [made, shapeOf, sessionOf, took])
}

type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** A line of JSON, filled up to eight bytes, and columns behind it. */
export function encodeColumns(start: object, columns: readonly Column[]): Uint8Array {
  const line = Buffer.from(JSON.stringify(start))
  const filled = Buffer.alloc(Math.ceil((line.length + 1) / 8) * 8, ' ')
  line.copy(filled)
  filled[filled.length - 1] = lineEnd
  const bytes = ({ buffer, byteOffset, byteLength }: Column) => new Uint8Array(buffer, byteOffset, byteLength)
  return Buffer.concat([filled, ...columns.map(bytes)])
}

/** The line of JSON, and where the columns begin: numbers of each size can be read there. */
export function decodeColumns(bytes: Uint8Array): {
  line: string
  buffer: Uint8Array['buffer']
  columns: number
} {
  const { buffer } = bytes.byteOffset === 0 ? bytes : Uint8Array.from(bytes)
  const columns = bytes.indexOf(lineEnd) + 1
  return { line: Buffer.from(buffer, 0, columns).toString(), buffer, columns }
}

interface Start extends Pick<Columns, 'shapes' | 'sessions' | 'open' | 'from' | 'earliest' | 'latest'> {
  isNear: boolean
}

/** Reads what `encodeSummary` returned; `known` holds those of all summaries that were read, by their text. */
export function decodeSummary(bytes: Uint8Array, known: Map<string, Shape>): Summary {
  const { line, buffer, columns } = decodeColumns(bytes)
  const { shapes, isNear, ...start }: Start = JSON.parse(line)
  const size = isNear ? Uint32Array.BYTES_PER_ELEMENT : Float64Array.BYTES_PER_ELEMENT
  const count = (bytes.length - columns) / (size + 3 * Uint16Array.BYTES_PER_ELEMENT)
  const column = (index: number) =>
    new Uint16Array(buffer, columns + count * (size + index * Uint16Array.BYTES_PER_ELEMENT), count)
  return {
    ...start,
    shapes: shapes.map((text) => shapeWith(text, known)),
    made: isNear ? new Uint32Array(buffer, columns, count) : new Float64Array(buffer, columns, count),
    shapeOf: column(0),
    sessionOf: column(1),
    took: column(2),
  }
}

const lineEnd = '\n'.charCodeAt(0)

function parseMembers(text: string): Record<string, unknown> {
  try {
    const members: unknown = JSON.parse(text)
    return isPlainObject(members) ? members : {}
  } catch {
    return {}
  }
}

function toName(value: unknown): string | null {
  return typeof value === 'string' ? value.toWellFormed() : null
}

/** The text of a shape, as it is kept. */
export function textOf({ kind, tool, actor, outcome, event }: Shape): string {
  return JSON.stringify([kind, tool, actor, outcome, ...(event === undefined ? [] : [event])])
}

/** The shape with this text: the same for the same text. */
export function shapeWith(text: string, known: Map<string, Shape>): Shape {
  const before = known.get(text)
  if (before !== undefined) return before
  const [kind, tool, actor, outcome, event]: (string | null)[] = JSON.parse(text)
  const shape = { kind, tool, actor, outcome, event }
  known.set(text, shape)
  return shape
}

/** Numbers names in the order in which they come. */
function createNames(): { placeOf: (name: string) => number; all: () => string[] } {
  const places = new Map<string, number>()
  return {
    placeOf(name) {
      const before = places.get(name)
      if (before !== undefined) return before
      places.set(name, places.size)
      return places.size - 1
    },
    all: () => [...places.keys()],
  }
}
