import type { CheckpointRecord } from '../../contract/evidence.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { Store } from '../../contract/store.ts'
import type { KeyFiles, Mark } from './key-files.ts'
import { parseRecord } from './parse-record.ts'

/** Why a store cannot be gone on from, judged by what was signed before: it was set back, replaced or changed. */
export function findSetBack(
  store: Store,
  keys: Pick<KeyFiles, 'anchors' | 'anchorPath'>,
): string | undefined {
  if (!store.durable) return undefined
  const mark = keys.anchors().find((each) => !holds(store, each))
  return mark === undefined ? undefined : describeSetBack(mark, keys)
}

/** The same for one tenant. */
export function findSetBackOf(
  store: Store,
  keys: Pick<KeyFiles, 'anchors' | 'anchorPath'>,
  tenant: string,
): string | undefined {
  const mark = keys.anchors().find((each) => each.tenant === tenant)
  return mark === undefined || holds(store, mark) ? undefined : describeSetBack(mark, keys)
}

/** Something of the folder of the keys that is not there any more, or is another one, although chains were signed with it. */
export interface KeyLoss {
  /** What it is, and what to do. */
  message: string
  /** Whose next signature makes it good, with a note. */
  tenants: readonly string[]
}

/** What was lost since the store was signed last. */
export function findLosses(store: Store, keys: KeyFiles): KeyLoss[] {
  if (!store.durable) return []
  const marks = new Map(keys.anchors().map((mark) => [mark.tenant, mark]))
  const lost = store
    .tenants()
    .filter((tenant) => !marks.has(tenant) && findLastCheckpoint(store, tenant) !== undefined)
  const [first] = lost
  return [
    ...(first === undefined
      ? []
      : [{ tenants: lost, message: describeLostMark(keys.anchorPath(first), first) }]),
    ...findLostKey(store, keys, [...marks.values()]),
  ]
}

function describeLostMark(path: string, tenant: string): string {
  return (
    `The file "${path}" is not there, and the records of "${tenant}" were signed: a store that was set back meanwhile is not found by it. ` +
    'Hold the store against an export or a line of "verify" that you kept. The next signature makes a new one, and a note says so.'
  )
}

function findLostKey(store: Store, keys: KeyFiles, marks: readonly Mark[]): KeyLoss[] {
  const own = marks.filter(({ imported }) => !imported)
  if (own.length === 0) return []
  let current: string | undefined
  try {
    current = keys.currentKey()?.id
  } catch {
    // A key that cannot be used is told of when it would sign.
    return []
  }
  const signed = own.filter(({ tenant, key }) => key !== current && !isIntroduced(store, tenant, current))
  const [first] = signed
  if (first === undefined) return []
  const is = current === undefined ? 'is not there any more' : `was replaced by ${current}`
  const message =
    `The signing key ${first.key} in "${keys.dir}" ${is}. Put it back if you have it. ` +
    `Else ${current ?? 'a new one'} signs from here on, and a note says so.`
  return [{ message, tenants: signed.map(({ tenant }) => tenant) }]
}

/** Whether a note says that this key signs from there on. */
export function isIntroduced(store: Store, tenant: string, key: string | undefined): boolean {
  for (const { text } of store.records({ tenant, kind: 'note', event: 'key_rotated', newestFirst: true })) {
    const { event, data } = parseRecord(text) ?? {}
    if (event === 'key_rotated' && isPlainObject(data) && data['new'] === key) return true
  }
  return false
}

/** The last checkpoint that stands in a chain. */
export function findLastCheckpoint(store: Store, tenant: string): CheckpointRecord | undefined {
  for (const { text } of store.records({ tenant, kind: 'checkpoint', newestFirst: true, limit: 1 }))
    return readRecord(text, 'checkpoint')
  return undefined
}

function holds(store: Store, { tenant, sequence, hash }: Mark): boolean {
  const [found] = store.records({ tenant, after: sequence - 1, limit: 1 })
  return found?.sequence === sequence && found.hash === hash
}

function describeSetBack({ tenant, sequence }: Mark, keys: Pick<KeyFiles, 'anchorPath'>): string {
  return (
    `The store no longer holds the record ${sequence} of "${tenant}" that was signed before, so it was replaced, set back or changed, and takes no records. ` +
    `Put the right one back. If it is gone, and this is the one to go on with, remove "${keys.anchorPath(tenant)}".`
  )
}
