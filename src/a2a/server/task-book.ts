import { Task } from '@a2a-js/sdk'
import type { DocumentChange } from '../../contract/documents.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Store } from '../../contract/store.ts'
import { digest } from '../../kit/json/digest.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { clockToleranceSeconds, type Verified } from './verify-token.ts'

/** What the store keeps of the tasks of peers, so that an answer outlives the process. */
export interface TaskBook {
  /** Uses a token up, once in all processes on the store. False if it was used before. */
  useToken(verified: Verified): Promise<boolean>
  /** Uses a token up for a call, and notes its task with it. False if it was used before; then nothing is noted. */
  begin(verified: Verified, task: Task): Promise<boolean>
  end(verified: Verified, task: Task): Promise<void>
  /** The task of this peer as it was last noted; undefined if the peer has none of this id. */
  find(verified: Verified, id: string): NotedTask | undefined
}

/** A task as it was noted. */
export interface NotedTask {
  readonly task: Task
  /** Whether no process works at it any more, and none said how it ended. */
  readonly abandoned: boolean
}

/** How long the answer of a call can be had. */
const keptMs = 3_600_000
/** Tokens and tasks that are over are taken out so many at a time, with what is written. */
const sweptAtOnce = 50

/** The tasks and used tokens of a store. A peer finds its own, of its tenant. */
export function openTaskBook(store: Store): TaskBook {
  const write = async (documents: readonly DocumentChange[]): Promise<boolean> => {
    try {
      await store.append([], { documents })
      return true
    } catch (error) {
      if (isDocumentChanged(error)) return false
      throw error
    }
  }
  const use = (verified: Verified): DocumentChange[] => [
    { ...placeOf(verified, 'a2a_token', verified.jti), value: { until: validUntil(verified) }, was: null },
    ...findOver(store, verified),
  ]
  const note = (verified: Verified, task: Task): DocumentChange => ({
    ...placeOf(verified, 'a2a_task', task.id),
    value: { writer: store.writer, until: Date.now() + keptMs, task: plain(Task.toJSON(task)) },
  })
  return {
    useToken: (verified) => write(use(verified)),
    begin: (verified, task) => write([...use(verified), note(verified, task)]),
    async end(verified, task) {
      await store.append([], { documents: [note(verified, task)] })
    },
    find(verified, id) {
      const [found] = store.documents(placeOf(verified, 'a2a_task', id))
      if (found === undefined || !isPlainObject(found.value)) return undefined
      const { writer, task, until } = found.value
      if (typeof until === 'number' && until < Date.now()) return undefined
      const abandoned = writer !== store.writer && typeof writer === 'string' && !store.lives(writer)
      return { task: Task.fromJSON(task), abandoned }
    },
  }
}

function placeOf({ peer }: Verified, kind: 'a2a_task' | 'a2a_token', id: string) {
  return { tenant: peer.tenant ?? 'local', kind, group: digest(peer.issuer), id }
}

/** From then on its time alone refuses a token. */
function validUntil({ expiresAt }: Verified): number {
  return expiresAt + clockToleranceSeconds * 1_000
}

/** The oldest of this peer that are over. Ids of tasks sort by time, and tokens of Handrail do. */
function findOver(store: Store, verified: Verified): DocumentChange[] {
  const now = Date.now()
  return (['a2a_token', 'a2a_task'] as const).flatMap((kind) => {
    const { id: _, ...place } = placeOf(verified, kind, '')
    return store
      .documents({ ...place, limit: sweptAtOnce })
      .filter(({ value }) => isPlainObject(value) && Number(value['until']) < now)
      .map(({ tenant, group, id }) => ({ tenant, kind, group, id, value: undefined }))
  })
}

function plain(value: unknown): Json {
  const copied = toJson(value)
  if (isIssue(copied)) throw new Error(`A task is not JSON: ${copied.message}`)
  return copied.json
}
