import type { StoredRecord } from '../../../contract/evidence.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** So many records of a chain, one after another, have one summary. */
export const recordsPerSummary = 2048

/** The sequence before the part of a chain in which the record after this one is. */
export function startOf(after: number): number {
  return after - (after % recordsPerSummary)
}

/** What lists and figures ask of a record, but its session, time and duration: many records have the same. */
export interface Shape {
  readonly kind: StoredRecord['kind']
  readonly tool: string | undefined
  readonly actor: string | undefined
  readonly outcome: string | undefined
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
  /** When each record was made, since `from`. */
  readonly made: Uint32Array | Float64Array
  readonly from: number
  /** The first and last of these times. */
  readonly earliest: number
  readonly latest: number
}

/** Summarises records: of each its kind and session, and its text. */
export function summarize(records: readonly Pick<StoredRecord, 'kind' | 'session' | 'text'>[]): Summary {
  const shapes = createNames()
  const sessions = createNames()
  const shapeOf = new Uint16Array(records.length)
  const sessionOf = new Uint16Array(records.length)
  const took = new Uint16Array(records.length)
  const made = new Float64Array(records.length)
  for (const [index, { kind, session, text }] of records.entries()) {
    const { tool, actor, outcome, at, durationMs } = parseMembers(text)
    shapeOf[index] = shapes.placeOf(JSON.stringify([kind, ...[tool, actor, outcome].map(toName)]))
    sessionOf[index] = sessions.placeOf(session)
    took[index] = packDuration(typeof durationMs === 'number' ? durationMs : 0)
    made[index] = typeof at === 'number' ? at : Number.NaN
  }
  return withTimes(
    { shapes: shapes.all().map(toShape), sessions: sessions.all(), shapeOf, sessionOf, took },
    made,
  )
}

function withTimes(
  columns: Omit<Summary, 'made' | 'from' | 'earliest' | 'latest'>,
  made: Float64Array,
): Summary {
  // What is no record any more was made at no time.
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
export function encodeSummary(summary: Summary): Uint8Array {
  const { shapes, sessions, shapeOf, sessionOf, took, made, from, earliest, latest } = summary
  const start = JSON.stringify({
    shapes: shapes.map(({ kind, tool, actor, outcome }) => [kind, tool, actor, outcome]),
    sessions,
    isNear: made instanceof Uint32Array,
    from,
    earliest,
    latest,
  })
  const line = Buffer.from(start)
  const filled = Buffer.alloc(Math.ceil((line.length + 1) / 8) * 8, ' ')
  line.copy(filled)
  filled[filled.length - 1] = lineEnd
  return Buffer.concat([
    filled,
    ...[made, shapeOf, sessionOf, took].map(
      ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    ),
  ])
}

interface Start extends Pick<Summary, 'from' | 'earliest' | 'latest'> {
  shapes: (string | null)[][]
  sessions: string[]
  isNear: boolean
}

/** Reads what `encodeSummary` returned. */
export function decodeSummary(bytes: Uint8Array): Summary {
  const { buffer } = bytes.slice()
  const columns = bytes.indexOf(lineEnd) + 1
  const { shapes, isNear, ...start }: Start = JSON.parse(Buffer.from(buffer, 0, columns).toString())
  const size = isNear ? Uint32Array.BYTES_PER_ELEMENT : Float64Array.BYTES_PER_ELEMENT
  const count = (bytes.length - columns) / (size + 3 * Uint16Array.BYTES_PER_ELEMENT)
  const column = (index: number) =>
    new Uint16Array(buffer, columns + count * (size + index * Uint16Array.BYTES_PER_ELEMENT), count)
  return {
    ...start,
    shapes: shapes.map((shape) => toShape(JSON.stringify(shape))),
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

function toShape(text: string): Shape {
  const [kind, tool, actor, outcome] = JSON.parse(text) as [Shape['kind'], ...(string | null)[]]
  return { kind, tool: tool ?? undefined, actor: actor ?? undefined, outcome: outcome ?? undefined }
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
