import type { Stats } from 'node:fs'

/**
 * Whom something new in a folder is to belong to; undefined if that is this process's user anyway. What root makes in a user's
 * folder is theirs, so that they, and commands, which never run as root, can go on with it.
 */
export function ownerIn({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined
}
