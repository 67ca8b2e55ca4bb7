import type { FileEffect } from '../../contract/base/effects.ts'
import { join } from 'node:path'
import type { Change, Kind } from './change.ts'

/** What a change comes to, for those who asked for the command. */
export function toEffect(change: Change): FileEffect {
  const { root, path, kind, had, size, target, mode, modeBefore, sameContent } = change
  return {
    path: join(root, path),
    effect: kind === 'none' ? 'removed' : had === 'none' ? 'created' : 'changed',
    kind: toKind(kind === 'none' ? had : kind),
    ...(kind === 'file' && { bytes: size }),
    ...(target !== undefined && { target }),
    ...(modeBefore !== undefined && kind === had && modeBefore !== mode && { mode, modeBefore }),
    ...(sameContent === true && { sameContent }),
  }
}

/** What something is, for those who asked for the command. */
export function toKind(kind: Kind): FileEffect['kind'] {
  return kind === 'special' || kind === 'none' ? 'other' : kind
}
