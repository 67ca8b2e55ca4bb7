import type { StartingCall } from '../../contract/agent-host.ts'
import type { Worker, WorkerOrder, WorkerPool } from '../../contract/base/child-agents.ts'
import type { WorkerPoolConfiguration } from '../../contract/configuration.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Session } from '../../contract/runtime.ts'
import { createWriter, type WriterCaller } from '../tasks/create-writer.ts'
import type { Draft, Name } from '../tasks/draft.ts'
import { refusal, someOf } from '../tasks/refusals.ts'
import type { ChildPorts } from './child-ports.ts'

/** A pool of the configuration. */
export interface Pool extends WorkerPoolConfiguration {
  readonly id: string
}

/** Who works, as it is kept while it does. */
interface Post {
  /** The process of the worker: one that has ended has no workers. */
  readonly writer: string
  readonly agent: string
  readonly session: string
  readonly task: string
}

/** What a worker is taken for. */
interface Taking {
  readonly order: WorkerOrder
  readonly call: StartingCall
  /** Id of its run. */
  readonly agent: string
  /** Whether the run goes on: it has its place, and is not refused. */
  readonly isResumed: boolean
}

/** The workers of all pools. Each tenant has all of them, in all processes on its store together. */
export interface WorkerPools {
  /** The pool that an order means. Throws `unknown_pool` or `unknown_worker`. */
  find(order: Pick<WorkerOrder, 'pool' | 'worker'>): Pool
  list(session: Session, pool?: string): WorkerPool[]
  /** Makes a worker busy, and returns its id. Rejects with `workers_busy`. */
  take(pool: Pool, taking: Taking): Promise<string>
  release(worker: string, about: Pick<Taking, 'call' | 'agent'> & { pool: Pool }): Promise<void>
}

export function createWorkerPools({ store, workerPools }: ChildPorts): WorkerPools {
  const writer = createWriter(store)
  const pools = Object.entries(workerPools).map(([id, pool]): Pool => ({ ...pool, id }))
  const isBusy = (post: Post | undefined): post is Post => post !== undefined && store.lives(post.writer)
  const getPool = (id: string): Pool => {
    const pool = pools.find((each) => each.id === id)
    if (pool !== undefined) return pool
    throw refusal(
      'unknown_pool',
      `There is no pool "${id}". There are ${someOf(pools.map((each) => each.id))}.`,
    )
  }
  return {
    find({ pool: id, worker }) {
      const named = id === undefined ? undefined : getPool(id)
      if (worker === undefined) return named ?? getPool(pools[0]?.id ?? 'default')
      const found = pools.find((pool) => workersOf(pool).includes(worker))
      if (found !== undefined && (named === undefined || named === found)) return found
      const of = named ?? found ?? pools[0]
      throw refusal(
        'unknown_worker',
        `There is no worker "${worker}"${named === undefined ? '' : ` in the pool "${named.id}"`}. There are ${someOf(of === undefined ? [] : workersOf(of))}.`,
      )
    },
    list: ({ id: session, principal: { tenant } }, id) =>
      (id === undefined ? pools : [getPool(id)]).map((pool) => {
        const posts = new Map(
          store
            .documents({ tenant, kind: 'worker', group: pool.id })
            .map((each) => [each.id, each.value as unknown as Post]),
        )
        const busy = [...posts].filter(([, post]) => isBusy(post)).map(([worker]) => worker)
        const workers = [...new Set([...workersOf(pool), ...busy])].map((worker): Worker => {
          const post = posts.get(worker)
          if (!isBusy(post)) return { id: worker, state: 'idle' }
          const own = post.session === session ? { agent: post.agent, task: post.task } : {}
          return { id: worker, state: 'busy', ...own }
        })
        const { description, definition } = pool
        return {
          id: pool.id,
          ...(description !== undefined && { description }),
          ...(definition !== undefined && { definition }),
          workers,
        }
      }),
    take: (pool, taking) =>
      writer.change(toCaller(taking.call), (draft) => {
        const { order, agent, call, isResumed } = taking
        const free = (worker: string): boolean => {
          const post = readPost(draft, nameOf(pool, worker))
          return !isBusy(post) || post.agent === agent
        }
        const wanted = order.worker === undefined ? workersOf(pool) : [order.worker]
        const worker = wanted.find(free) ?? (isResumed ? nextFree(pool, free) : undefined)
        if (worker === undefined) throw busyRefusal(pool, order)
        const post: Post = { writer: store.writer, agent, session: call.session.id, task: order.task }
        draft.write(nameOf(pool, worker), { ...post })
        return worker
      }),
    release: (worker, { pool, call, agent }) =>
      writer.change({ ...toCaller(call), ended: () => false }, (draft) => {
        const name = nameOf(pool, worker)
        if (readPost(draft, name)?.agent === agent) draft.write(name, undefined)
      }),
  }
}

function workersOf({ id, size }: Pool): string[] {
  return Array.from({ length: size }, (_, index) => `${id}-${index + 1}`)
}

/** A place beyond the size of the pool, for a worker that goes on after others have taken its place. */
function nextFree({ id, size }: Pool, free: (worker: string) => boolean): string {
  for (let number = size + 1; ; number++) if (free(`${id}-${number}`)) return `${id}-${number}`
}

function nameOf({ id }: Pool, worker: string): Name {
  return { kind: 'worker', group: id, id: worker }
}

function readPost(draft: Draft, name: Name): Post | undefined {
  const value: Json = draft.read(name)
  return (value ?? undefined) as Post | undefined
}

function toCaller({ session, signal }: StartingCall): WriterCaller {
  const { tenant, actor } = session.principal
  return { tenant, actor, ended: () => signal.aborted }
}

function busyRefusal({ id, size }: Pool, { worker }: WorkerOrder): Error {
  const who =
    worker === undefined ? `All ${size} workers of the pool "${id}" are` : `The worker "${worker}" is`
  return refusal(
    'workers_busy',
    `${who} at work. Dispatch again when one has ended: agent.list_workers tells who is idle.`,
  )
}
