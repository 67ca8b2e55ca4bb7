/**
 * An export is a file of JSON lines: a header, one line for each record, and an end. It holds a stretch of the chain of each tenant
 * without gaps, so that everything in it can be held against the hashes and signatures in it, without a store.
 */
export interface ExportHeader {
  handrail: 'evidence'
  version: 1
  /** Milliseconds since the epoch. */
  at: number
  /** The record before the first one of each tenant: 0 and an empty hash where the export starts with the chain. */
  tenants: readonly { tenant: string; after: number; hash: string }[]
  /** Bodies of other sessions are withheld. */
  session?: string
  /** Every public key that was known: 32 bytes, base64url. */
  keys: readonly { id: string; publicKey: string }[]
}

/** One record. Without `body` it is withheld; `null` says that there is none any more. */
export interface ExportedRecord {
  tenant: string
  sequence: number
  hash: string
  text: string
  body?: string | null
}

/** The last line: a file without it was cut off. */
export interface ExportEnd {
  end: true
  records: number
  /** The last record of each tenant, in the order of the header. */
  tenants: readonly { tenant: string; sequence: number; hash: string }[]
  /** sha256 hex over all lines before this one, each with its line feed: finds what was damaged, not who forged. */
  digest: string
}
