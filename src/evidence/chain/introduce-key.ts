import type { NoteRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { findLastCheckpoint, isIntroduced } from './examine-keys.ts'
import type { KeyFiles } from './key-files.ts'
import { toKeyText } from './signing-key.ts'

interface Introduction {
  store: Store
  keys: KeyFiles
  tenant: string
  /** Milliseconds since the epoch. */
  at: number
}

/**
 * Leaves a note in the chain of a tenant before its next signature: where another key signs than the one that signed last, and where
 * nothing remembers that one any more.
 */
export async function introduceKey({ store, keys, tenant, at }: Introduction): Promise<void> {
  if (!store.durable) return
  const mark = keys.anchors().find((each) => each.tenant === tenant)
  const last = mark ?? findLastCheckpoint(store, tenant)
  if (last === undefined) return
  const note = { kind: 'note', tenant, session: '', at } as const
  const notes: NoteRecord[] = []
  if (mark === undefined)
    notes.push({
      ...note,
      event: 'mark_lost',
      message: `What remembers the last signature, the one over the record ${last.sequence}, is gone. A store that was set back meanwhile is not found by it.`,
    })
  const { id, publicKey } = keys.signingKey()
  if (last.key !== id && !isIntroduced(store, tenant, id))
    notes.push({
      ...note,
      event: 'key_rotated',
      message:
        mark?.imported === true
          ? `What was imported is signed by ${last.key}; ${id} signs from here on.`
          : `The signing key ${last.key} was not there any more; ${id} signs from here on.`,
      data: { old: last.key, new: id, publicKey: toKeyText(publicKey) },
    })
  if (notes.length > 0) await store.append(notes.map((record) => ({ record, body: null })))
}
