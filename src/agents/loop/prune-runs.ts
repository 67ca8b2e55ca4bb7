import type { DocumentChange } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { createRunBook, withoutConversation, type KeptRun } from './run-book.ts'

export interface PruneConversationsRequest {
  readonly store: Store
  /** Conversations go in which nothing was said since, in milliseconds since the epoch. */
  readonly before: number
  readonly tenant: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

const page = 100

/** Removes old conversations of runs, each as a whole or not at all; that there was such a run stays. Returns how many there were. */
export async function pruneConversations(request: PruneConversationsRequest): Promise<number> {
  const { store, tenant } = request
  const book = createRunBook(store)
  let pruned = 0
  let after: { group: string; id: string } | undefined
  for (;;) {
    const found = store.documents({
      tenant,
      kind: 'run',
      limit: page,
      ...(after !== undefined && { after }),
    })
    for (const { id } of found) {
      const run = book.load(tenant, id)
      if (run !== undefined && isOld(run, request) && (await forget(run, request))) pruned++
    }
    const last = found.at(-1)
    if (last === undefined || found.length < page) return pruned
    after = { group: last.group, id: last.id }
  }
}

/** One that runs stays, and so does one that waits for a person who may still answer. */
function isOld(
  { id, tenant, state, writer, prunedAt, step }: KeptRun,
  request: PruneConversationsRequest,
): boolean {
  const { store, before, at } = request
  if (prunedAt !== undefined || (state === 'running' && store.lives(writer))) return false
  if (step?.taken.waiting.some(({ approval }) => approval.expiresAt > at) === true) return false
  const [last] = store.documents({ tenant, kind: 'node', group: id, newestFirst: true, limit: 1 })
  const node = last?.value
  return !isPlainObject(node) || Number(node['at']) < before
}

/** False if the run goes on meanwhile. */
async function forget(
  run: KeptRun,
  { store, at }: Pick<PruneConversationsRequest, 'store' | 'at'>,
): Promise<boolean> {
  const { tenant, id: group } = run
  const parts = (['node', 'brief'] as const).flatMap((kind) => store.documents({ tenant, kind, group }))
  const changes: DocumentChange[] = [
    withoutConversation(run, at),
    ...parts.map(({ kind, id }) => ({ tenant, kind, group, id, value: undefined })),
  ]
  try {
    await store.append([], { documents: changes })
    return true
  } catch (error) {
    if (isDocumentChanged(error)) return false
    throw error
  }
}
