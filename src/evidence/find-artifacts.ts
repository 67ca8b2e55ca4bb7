import type { StoredRecord } from '../contract/evidence.ts'
import type { Artifact } from '../contract/base/result.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'
import { decodeResult } from '../kit/result/encode-result.ts'
import { mergeNewest } from './merge-newest.ts'

/** Which artifacts a listing shows; what is absent says nothing. */
export interface WantedArtifacts {
  readonly tenants: readonly string[]
  readonly call?: string
  readonly limit: number
}

/** An artifact that a call left; what only its result says is absent if that was pruned. */
export interface ListedArtifact extends Partial<Omit<Artifact, 'digest'>> {
  readonly digest: string
  readonly tenant: string
  readonly session: string
  readonly call: string
  readonly tool: string
  /** When the call ended, in milliseconds since the epoch. */
  readonly at: number
}

/** The artifacts that calls left last, newest first. */
export function findArtifacts(store: Store, { tenants, call, limit }: WantedArtifacts): ListedArtifact[] {
  const named = call !== undefined && { call }
  const lists = tenants.map((tenant) => [
    ...take(store.records({ tenant, kind: 'end', newestFirst: true, ...named }), limit),
  ])
  return mergeNewest(lists, limit)
}

function* take(ends: Iterable<StoredRecord>, limit: number): Iterable<ListedArtifact> {
  let left = limit
  for (const { text, body } of ends) {
    const { tenant, session, call, tool, at, artifacts = [] } = readRecord(text, 'end')
    if (artifacts.length === 0) continue
    const known = new Map(readBody(body, { session, call, tool }).map((each) => [each.digest, each]))
    for (const digest of artifacts) {
      yield { ...known.get(digest), digest, tenant, session, call, tool, at }
      if (--left === 0) return
    }
  }
}

/** A body that was changed by hand says nothing; verify says that it was changed. */
function readBody(
  body: string | null,
  { session, call, tool }: { session: string; call: string; tool: string },
): readonly Artifact[] {
  if (body === null) return []
  try {
    return decodeResult(body, { callId: call, toolCallId: '', tool, session, durationMs: 0 }).artifacts
  } catch {
    return []
  }
}
