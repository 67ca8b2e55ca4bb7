import type { FileEffect } from '../../contract/base/sandbox.ts'
import { join } from 'node:path'
import type { Change, Kind } from './change.ts'

/** What a change comes to, for those who asked for the command. */
export function toEffect({ root, path, kind, had, size }: Change): FileEffect {
  return {
    path: join(root, path),
    effect: kind === 'none' ? 'removed' : had === 'none' ? 'created' : 'changed',
    kind: toKind(kind === 'none' ? had : kind),
    ...(kind === 'file' && { bytes: size }),
  }
}

function toKind(kind: Kind): FileEffect['kind'] {
  return kind === 'special' || kind === 'none' ? 'other' : kind
}
