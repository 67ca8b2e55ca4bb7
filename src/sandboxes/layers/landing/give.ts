import type { BigIntStats } from 'node:fs'
import type { Owner } from './item.ts'

/** Whose something is. */
export function ownerOf({ uid, gid }: BigIntStats): Owner {
  return { uid: Number(uid), gid: Number(gid) }
}

/** Only root may change owners. Another user may hand their own things to a group that they are in. Does nothing else. */
export function give(owner: Owner | undefined, to: (uid: number, gid: number) => void): void {
  if (owner === undefined) return
  const { geteuid, getegid, getgroups } = process
  const isOwn = owner.uid === geteuid?.() && owner.gid !== getegid?.()
  if (geteuid?.() === 0 || (isOwn && getgroups?.().includes(owner.gid) === true)) to(owner.uid, owner.gid)
}
