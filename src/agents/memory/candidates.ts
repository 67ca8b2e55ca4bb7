import type { DocumentChange } from '../../contract/documents.ts'
import type { Json } from '../../contract/base/json.ts'
import type { MemoryFact } from '../../contract/services/memory.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import type { FactFolder } from './fact-folder.ts'

/** A fact on its way: `open` until it is decided about, `taken` until its file is there. */
export interface Candidate {
  readonly fact: MemoryFact
  readonly state: 'open' | 'taken'
}

const group = 'candidates'

/** The candidates of a tenant, by when they were kept. */
export function readCandidates(store: Store, tenant: string): readonly Candidate[] {
  return store
    .documents({ tenant, kind: 'memory_candidate', group })
    .map(({ value }) => value as unknown as Candidate)
    .toSorted((one, other) => (one.fact.source.at ?? 0) - (other.fact.source.at ?? 0))
}

export function putCandidate(tenant: string, next: Candidate, was: Candidate | null): DocumentChange {
  const { id } = next.fact
  return { tenant, kind: 'memory_candidate', group, id, value: toJson(next), was: was && toJson(was) }
}

export function forgetCandidate(tenant: string, was: Candidate): DocumentChange {
  const { id } = was.fact
  return { tenant, kind: 'memory_candidate', group, id, value: undefined, was: toJson(was) }
}

/**
 * Writes the files of all candidates that were taken. A process that was killed in between, or does it at the same time, comes to the same: the name of the file is
 * that of the candidate, which is forgotten when the file is there.
 */
export async function finishTaken(store: Store, folder: FactFolder, tenant: string): Promise<void> {
  for (const candidate of readCandidates(store, tenant)) {
    if (candidate.state !== 'taken') continue
    await folder.write(tenant, candidate.fact)
    try {
      await store.append([], { documents: [forgetCandidate(tenant, candidate)] })
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

function toJson(candidate: Candidate): Json {
  return JSON.parse(JSON.stringify(candidate)) as Json
}
