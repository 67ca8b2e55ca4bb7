import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'

const leaseMs = 15_000
/** It is renewed when so much of it is left. */
const renewMs = 10_000

const name = { tenant: 'local', kind: 'schedule_runner', group: 'runner', id: 'runner' } as const

/** The right to start runs, which one process of those on a store has at a time. */
export interface RunnerLease {
  /** Takes it or renews it. False if another process has it. */
  hold(): Promise<boolean>
  /** What is written only as long as the lease is held: without it, nothing of what is written with it is. */
  fence(): DocumentChange
  /** Lets another process have it. */
  release(): Promise<void>
}

interface Held {
  readonly writer: string
  readonly until: number
}

/** The lease of a store. One of a process that is gone is free at once, one of a process that does not renew it when it has run out. */
export function createRunnerLease({ store, now }: { store: Store; now: () => number }): RunnerLease {
  let held: Json | undefined
  const read = (): Json | undefined => store.documents(name)[0]?.value
  const write = async (value: Json | undefined, was: Json | undefined): Promise<boolean> => {
    try {
      await store.append([], { documents: [{ ...name, value, was: was ?? null }] })
      held = value
      return value !== undefined
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
      held = undefined
      return false
    }
  }
  return {
    async hold() {
      const found = read()
      const at = now()
      const { writer, until } = readHeld(found)
      const isOwn = writer === store.writer
      // A clock that was set back does not make it longer.
      const left = until > at + leaseMs ? 0 : until - at
      if (isOwn && left > renewMs) {
        held = found
        return true
      }
      if (!isOwn && left > 0 && store.lives(writer)) {
        held = undefined
        return false
      }
      return write({ writer: store.writer, until: at + leaseMs }, found)
    },
    fence() {
      if (held === undefined) throw new Error('The lease of schedules is not held.')
      return { ...name, value: held, was: held }
    },
    async release() {
      if (held !== undefined) await write(undefined, held)
    },
  }
}

function readHeld(value: Json | undefined): Held {
  if (!isPlainObject(value)) return { writer: '', until: 0 }
  const { writer, until } = value
  return { writer: typeof writer === 'string' ? writer : '', until: typeof until === 'number' ? until : 0 }
}
