import { readlinkSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { EffectHistory, PathEffect, PathState } from '../../../contract/base/effects.ts'
import { readPieces } from '../../history/file-content.ts'
import { digestOf, openRegular } from './content.ts'
import { isWholeTree, kindOf } from './expected.ts'
import { holdIn } from './folders.ts'
import { createSideBySide } from './side-by-side.ts'
import type { LandingItem } from './item.ts'
import { toLandingFailure } from './landing-failure.ts'
import type { NotedMode } from './landing-note.ts'
import type { ReadyUnit } from './put-in-force.ts'
import type { HeldRoot } from './stage.ts'
import { walkBelow } from './walk-below.ts'

/** What is recorded of a landing. */
export interface Recorded {
  readonly ready: readonly ReadyUnit[]
  readonly modes: readonly NotedMode[]
  readonly roots: readonly HeldRoot[]
  /** Of each file that lands. */
  readonly digests: ReadonlyMap<LandingItem, { digest: string; bytes: number }>
}

const none: PathState = { kind: 'none' }

/** Keeps each content that is to be replaced or removed, and records all effects, before the first comes into force. */
export async function recordEffects(recorded: Recorded, history: EffectHistory): Promise<PathEffect[]> {
  const effects = new Map<string, PathEffect>()
  const set = (path: string, state: Partial<PathEffect>) =>
    effects.set(path, { ...(effects.get(path) ?? { path, before: none, after: none }), ...state })
  const keeping = createSideBySide()
  const keepAt = (path: string, at: string, stat: BigIntStats) =>
    keeping.add(keep(at, { stat, history }).then((before) => set(path, { before })))
  for (const { unit, noted, before } of recorded.ready) {
    const { item } = unit
    const held = recorded.roots[noted.root]
    if (held === undefined) continue
    const path = join(item.root, item.path)
    try {
      if (before !== undefined) {
        const folder = held.folders.at(dirname(item.path))
        const name = basename(item.path)
        await keepAt(path, `${folder.self}/${name}`, before)
        if (isWholeTree(item)) {
          using top = holdIn(folder, name)
          await walkBelow(top, ({ path: below, at, stat }) => keepAt(join(path, below), at, stat))
        }
      }
    } catch (error) {
      throw toLandingFailure(error, path)
    }
    if (unit.step === 'remove') continue
    for (const each of [item, ...unit.below])
      set(join(each.root, each.path), { after: stateAfter(each, recorded.digests.get(each)) })
  }
  await keeping.end()
  for (const { root, path, before, after } of recorded.modes) {
    if (before === after) continue
    const real = join(recorded.roots[root]?.folders.top.real ?? '', path)
    set(real, {
      before: { kind: 'directory', mode: before },
      after: { kind: 'directory', mode: after },
    })
  }
  const sorted = [...effects.values()].toSorted((one, other) => compare(one.path, other.path))
  await history.record(sorted)
  return sorted
}

/** What is at a path before, with its content kept if it is a file. */
async function keep(
  at: string,
  { stat, history }: { stat: BigIntStats; history: EffectHistory },
): Promise<PathState> {
  const kind = kindOf(stat)
  if (kind === 'none' || kind === 'special') return { kind }
  if (kind === 'link') return { kind, target: readlinkSync(at) }
  const mode = Number(stat.mode & 0o777n)
  if (kind === 'directory') return { kind, mode }
  using file = openRegular(at, at)
  const bytes = Number(file.stat.size)
  const digest = await digestOf(file)
  await history.keep({ digest, bytes, open: () => readPieces(file.descriptor) })
  return { kind, mode, bytes, digest }
}

function stateAfter({ to }: LandingItem, file: { digest: string; bytes: number } | undefined): PathState {
  if (to.kind === 'link') return { kind: 'link', target: to.target }
  if (to.kind === 'directory') return { kind: 'directory', mode: to.mode & 0o777 }
  if (to.kind === 'none' || file === undefined) return none
  return { kind: 'file', mode: to.mode & 0o777, ...file }
}

/** Each folder before what is in it. */
function compare(one: string, other: string): number {
  const [a, b] = [one.replaceAll('/', '\0'), other.replaceAll('/', '\0')]
  return a < b ? -1 : a > b ? 1 : 0
}
