import type { DatabaseSync } from 'node:sqlite'
import { dataVersion } from '../base/data-version.ts'
import { packOf, placeInPack, unpack, type PackContent } from './pack.ts'

/** What a row of `records` stands for whose record is in a pack. */
export interface Packed {
  text: string
  /** sha256 hex. */
  hash: string
  body: string | null
}

/** Reads what is in packs. */
export interface PackReader {
  /** Says that rows were read just now. What is remembered of packs that others changed since is forgotten. Throws `Upgraded` if they may be other rows than they look like. */
  look(): void
  /** Undefined if it is not there, or was changed by something else than Handrail. */
  find(tenant: string, sequence: number): Packed | undefined
  /** What is in a pack; undefined if it is missing, or was changed by something else than Handrail. */
  content(tenant: string, number: number): PackContent | undefined
  /** Says that the pack with this number was made or changed here. */
  changed(tenant: string, number: number): void
}

interface Pack extends PackContent {
  /** One after another, in hex. */
  hashes: string
}

/** So many packs that were read are remembered. */
const rememberedPacks = 8

const hashLetters = 64

const readers = new WeakMap<DatabaseSync, PackReader>()

/** The packs of the file behind this connection, whose statements have the functions `packed_text` and `packed_body` from here on. */
export function packsOf(db: DatabaseSync): PackReader {
  let reader = readers.get(db)
  if (reader !== undefined) return reader
  readers.set(db, (reader = createPackReader(db)))
  defineFunctions(db, reader)
  return reader
}

function createPackReader(db: DatabaseSync): PackReader {
  const known = new Map<string, Pack | undefined>()
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const statements = () => (prepared ??= prepareStatements(db))
  let seen: unknown
  /** Most that is read is in the pack that was read before. */
  let last: { tenant: string; number: number; pack: Pack | undefined } | undefined
  const keyOf = (tenant: string, number: number): string => `${number} ${tenant}`
  const forget = (): void => {
    known.clear()
    last = undefined
  }
  const read = (tenant: string, number: number): Pack | undefined => {
    if (last?.number !== number || last.tenant !== tenant)
      last = { tenant, number, pack: readKnown(tenant, number) }
    return last.pack
  }
  const readKnown = (tenant: string, number: number): Pack | undefined => {
    const key = keyOf(tenant, number)
    if (known.has(key)) return known.get(key)
    const pack = toPack(statements().read.get(tenant, number))
    for (const first of known.keys()) {
      if (known.size < rememberedPacks) break
      known.delete(first)
    }
    known.set(key, pack)
    return pack
  }
  return {
    look() {
      const version = dataVersion(db)
      if (version !== seen) forget()
      seen = version
    },
    find(tenant, sequence) {
      const pack = read(tenant, packOf(sequence))
      const place = placeInPack(sequence)
      const text = pack?.texts[place]
      if (pack === undefined || text === undefined) return undefined
      const hash = pack.hashes.slice(place * hashLetters, (place + 1) * hashLetters)
      return { text, hash, body: pack.bodies[place] ?? null }
    },
    content: read,
    changed(tenant, number) {
      known.delete(keyOf(tenant, number))
      last = undefined
    },
  }
}

function prepareStatements(db: DatabaseSync) {
  return {
    read: db.prepare('SELECT hashes, value FROM packs WHERE tenant = ? AND number = ?'),
  }
}

function toPack(row: Record<string, unknown> | undefined): Pack | undefined {
  const content = unpack(row?.['value'])
  const hashes = row?.['hashes']
  if (content === undefined || !(hashes instanceof Uint8Array)) return undefined
  return { ...content, hashes: Buffer.from(hashes).toString('hex') }
}

/** For statements that ask something of the text or body of a record. */
function defineFunctions(db: DatabaseSync, reader: PackReader): void {
  const define = (name: string, member: 'text' | 'body'): void =>
    db.function(name, (tenant, sequence) => {
      if (typeof tenant !== 'string' || typeof sequence !== 'number') return null
      reader.look()
      return reader.find(tenant, sequence)?.[member] ?? null
    })
  define('packed_text', 'text')
  define('packed_body', 'body')
}
