import type { Json } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** What the policy file once said. */
export interface PolicyVersion {
  /** 1, 2, 3 … of the home. */
  readonly version: number
  readonly text: string
  readonly digest: string
  /** When it was saved, or found in the file, in milliseconds since the epoch. */
  readonly at: number
  /** Who saved it. Absent if it was found in the file: a person, or another program, had written it there. */
  readonly by?: string
  readonly reason?: string
}

/** A version as the store has it. */
export interface KeptVersion extends PolicyVersion {
  /** `saving` until the file has it. */
  readonly state: 'saving' | 'saved'
  /** The process that keeps it. */
  readonly writer: string
  readonly value: Json
}

export function toVersionValue({
  version,
  text,
  digest,
  at,
  by,
  reason,
  state,
  writer,
}: Omit<KeptVersion, 'value'>): Json {
  return {
    version,
    text,
    digest,
    at,
    state,
    writer,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
  }
}

/** Undefined for what is none. */
export function readVersion(value: Json): KeptVersion | undefined {
  if (!isPlainObject(value)) return undefined
  const { version, text, digest, at, by, reason, state, writer } = value
  const isOne =
    typeof version === 'number' &&
    typeof text === 'string' &&
    typeof digest === 'string' &&
    typeof at === 'number' &&
    typeof writer === 'string' &&
    (state === 'saving' || state === 'saved')
  if (!isOne) return undefined
  return {
    version,
    text,
    digest,
    at,
    state,
    writer,
    ...(typeof by === 'string' && { by }),
    ...(typeof reason === 'string' && { reason }),
    value,
  }
}
