import type { BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path'
import { aborted } from '../../files/aborted.ts'
import { requireExpected } from './expected.ts'
import type { LandingItem } from './item.ts'
import { toLandingFailure } from './landing-failure.ts'
import { toMark, type NotedMode } from './landing-note.ts'
import { isClosed } from './modes.ts'
import { keyOf, type Plan, type Unit } from './plan.ts'
import type { ReadyUnit } from './put-in-force.ts'
import type { HeldRoot } from './stage.ts'
import { stageUnit, type Staging } from './stage-unit.ts'
import { createTurns } from './turns.ts'

/** What units are prepared with. */
export interface Preparing extends Pick<Staging, 'owner'> {
  readonly history: unknown
  readonly signals: readonly AbortSignal[]
}

/** Makes all that is new in the stages, and looks at all that is to be replaced or removed. Nothing is in force then. */
export async function prepareUnits(
  { units }: Plan,
  roots: readonly HeldRoot[],
  { owner, history, signals }: Preparing,
): Promise<{ ready: ReadyUnit[]; digests: Map<LandingItem, { digest: string; bytes: number }> }> {
  const digests = new Map<LandingItem, { digest: string; bytes: number }>()
  const onDigest: Staging['onDigest'] =
    history === undefined ? undefined : (item, file) => void digests.set(item, file)
  const removed = new Set(units.filter(({ step }) => step === 'remove').map(({ item }) => keyOf(item)))
  const turns = createTurns()
  const seen: (BigIntStats | undefined)[] = []
  for (const { item, step } of units) {
    await turns()
    const { folders } = find(roots, item).held
    const isFreed = step === 'create' && removed.has(keyOf(item))
    seen.push(isFreed ? undefined : await requireExpected(folders, item))
  }
  const ready: ReadyUnit[] = []
  for (const [number, unit] of units.entries()) {
    if (signals.some((signal) => signal.aborted)) throw aborted()
    await turns()
    const before = seen[number]
    const { held, root } = find(roots, unit.item)
    const made =
      unit.step === 'remove'
        ? undefined
        : await stageUnit(
            held.stage,
            { unit, number, before, above: aboveOf(held, unit) },
            { owner, onDigest },
          )
    const noted = {
      step: unit.step,
      number,
      root,
      path: unit.item.path,
      before: before && toMark(before),
      after: made && toMark(made),
    }
    ready.push({ unit, noted, before })
  }
  return { ready, digests }
}

/** The folders that get another mode, and those that this process must open to change what is in them. Each before what is in it. */
export async function findModes(plan: Plan, roots: readonly HeldRoot[]): Promise<NotedMode[]> {
  const modes = new Map<string, NotedMode>()
  for (const item of plan.modes) {
    const { held, root } = find(roots, item)
    const stat = await requireExpected(held.folders, item)
    const before = Number((stat?.mode ?? 0n) & 0o777n)
    const after = item.to.kind === 'directory' ? item.to.mode & 0o777 : before
    modes.set(keyOf(item), { root, path: item.path, before, after })
  }
  for (const { item } of plan.units) {
    const path = dirname(item.path)
    const { held, root } = find(roots, item)
    const { stat } = held.folders.at(path)
    const key = keyOf({ root: item.root, path })
    if (!isClosed(stat) || modes.has(key)) continue
    modes.set(key, { root, path, before: stat.mode & 0o777, after: stat.mode & 0o777 })
  }
  return [...modes].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, mode]) => mode)
}

function find(roots: readonly HeldRoot[], { root }: LandingItem): { held: HeldRoot; root: number } {
  const at = roots.findIndex(({ folders }) => folders.top.real === root)
  const held = roots[at]
  if (held === undefined) throw new Error(`"${root}" is not held`)
  return { held, root: at }
}

function aboveOf({ folders }: HeldRoot, { item }: Unit) {
  try {
    return folders.at(dirname(item.path))
  } catch (error) {
    throw toLandingFailure(error, join(item.root, item.path))
  }
}
