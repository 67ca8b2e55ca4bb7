import type { AbortScope } from '../../contract/base/stop.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { newId } from '../../kit/new-id.ts'

/** What running calls of every process on a store are told once. */
export interface AbortOrder {
  readonly scope: AbortScope
  readonly by: string
  readonly reason?: string
  /** It means what began by then. */
  readonly at: number
}

/** An order that old was heard by every process that had to. */
const staleMs = 60_000

/** Orders of other processes: each is obeyed once, and those of this process are given to the others. */
export function createAbortOrders(
  { store, now, logError }: { store: Store; now: () => number; logError: (cause: unknown) => void },
  obey: (order: AbortOrder) => Promise<unknown>,
) {
  const heard = new Set<string>()
  let version = -1
  const look = (): void => {
    const latest = store.factsVersion()
    if (latest === version) return
    version = latest
    for (const { id, value } of store.facts('abort')) {
      if (heard.has(id)) continue
      heard.add(id)
      const order = readOrder(value)
      if (order === undefined) logError(new Error(`The order to abort "${id}" cannot be read.`))
      else obey(order).catch(logError)
    }
  }
  return {
    look(): void {
      try {
        look()
      } catch (cause) {
        logError(cause)
      }
    },
    async give(order: AbortOrder): Promise<void> {
      const id = newId('abort', order.at)
      heard.add(id)
      const old = store.facts('abort').filter((fact) => isStale(fact, now()))
      const gone = old.map(({ tenant, kind, id: each }): FactChange => ({
        tenant,
        kind,
        id: each,
        value: undefined,
      }))
      const value = parseJson(JSON.stringify(order))
      await store.append([], { facts: [...gone, { tenant: '', kind: 'abort', id, value }] })
    },
  }
}

function isStale({ value }: Fact, now: number): boolean {
  const order = readOrder(value)
  return order === undefined || order.at < now - staleMs
}

const fields: readonly string[] = ['tenant', 'actor', 'server', 'tools', 'call', 'session']

function readOrder(value: unknown): AbortOrder | undefined {
  if (!isPlainObject(value)) return undefined
  const { scope, by, reason, at } = value
  if (!isScope(scope) || typeof by !== 'string' || typeof at !== 'number') return undefined
  return { scope, by, at, ...(typeof reason === 'string' && { reason }) }
}

function isScope(value: unknown): value is AbortScope {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(([field, each]) => fields.includes(field) && typeof each === 'string')
  )
}
