import { lstatSync, readlinkSync, type BigIntStats, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change, Kind } from './change.ts'
import { kindOf } from './landing/expected.ts'
import {
  count,
  inOrder,
  likenessOf,
  namesIn,
  openClosed,
  removal,
  requireDepth,
  statOf,
  toChanges,
  toReadFailure,
  unlike,
  type Likeness,
  type Tally,
} from './read-entry.ts'

/** A root, and its copy. */
export interface CopiedRoot {
  /** Where it really is. */
  readonly root: string
  readonly copy: string
  /** What was in the copy before the command began, by its path below the root. */
  readonly known: ReadonlyMap<string, Known>
}

/** What something in a copy was before the command began. */
interface Known {
  readonly kind: Kind
  readonly mode: number
  readonly target: string | undefined
  /** Its number, and the time of its last change: what has both is the same, unchanged. */
  readonly ino: bigint
  readonly ctime: bigint
}

/** Notes what is in a copy. Fails with `file_limit` for one that is too large, too deep or has names that are not UTF-8. */
export async function noteCopy(copy: string): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  const note = (path: string, { mode, ino, ctimeNs: ctime }: BigIntStats, kind: Kind) => {
    const target = kind === 'link' ? readlinkSync(join(copy, path)) : undefined
    known.set(path, { kind, mode: Number(mode & 0o7777n), target, ino, ctime })
  }
  await walk(copy, note, { isKept: true })
  return known
}

/** Reads what a command changed in a copy. No process writes to it any more, and no link in it is followed. Fails as `noteCopy`. */
export async function readCopy({ root, copy, known }: CopiedRoot): Promise<Change[]> {
  const changes: Change[] = []
  const folders = new Set([''])
  const left = new Set(known.keys())
  await walk(copy, (path, { ino, ctimeNs }, kind) => {
    left.delete(path)
    if (kind === 'directory') folders.add(path)
    const was = known.get(path)
    if (was?.ino === ino && was.ctime === ctimeNs) return
    const inLayer = join(copy, path)
    const stat = lstatSync(inLayer)
    changes.push(
      ...toChanges({ root, path, stat, at: inLayer, had: was?.kind ?? 'none' }, (change) =>
        was === undefined ? unlike : compare(change, was, { root, stat, inLayer }),
      ),
    )
  })
  // What was in a folder that is gone goes with it.
  for (const path of left) {
    const above = dirname(path)
    if (folders.has(above === '.' ? '' : above))
      changes.push(removal(root, path, known.get(path)?.kind ?? 'none'))
  }
  return inOrder(changes)
}

function compare(
  change: Change,
  was: Known,
  { root, stat, inLayer }: { root: string; stat: Stats; inLayer: string },
): Likeness {
  if (change.kind !== was.kind) return unlike
  const modeBefore = was.mode & 0o777
  if (change.kind === 'link') return { isSame: change.target === was.target }
  if (change.kind === 'directory') return { isSame: (stat.mode & 0o7777) === was.mode, modeBefore }
  const at = join(root, change.path)
  const before = statOf(at)
  return before === undefined || kindOf(before) !== was.kind
    ? { isSame: false, modeBefore }
    : likenessOf(change, { before, stat, at, inLayer })
}

/** Shows each path below a folder, each folder before what is in it. Folders that are closed stay so if it is kept. */
async function walk(
  top: string,
  visit: (path: string, stat: BigIntStats, kind: Kind) => void,
  { isKept = false } = {},
): Promise<void> {
  const tally: Tally = { entries: 0 }
  const readFolder = async (path: string, depth: number): Promise<void> => {
    requireDepth(depth)
    const close = openClosed(join(top, path))
    for (const name of namesIn(join(top, path))) {
      await count(tally)
      const inner = join(path, name)
      const stat = lstatSync(join(top, inner), { bigint: true })
      visit(inner, stat, kindOf(stat))
      if (stat.isDirectory()) await readFolder(inner, depth + 1)
    }
    if (isKept) close()
  }
  try {
    await readFolder('', 0)
  } catch (error) {
    throw toReadFailure(error)
  }
}
