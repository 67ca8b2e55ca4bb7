import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { CommandOutcome, HeldBack } from '../../../contract/services/sandbox.ts'
import type { Reach } from '../../files/reach.ts'
import type { Change } from '../change.ts'
import type { Moment } from '../landing/moment.ts'
import type { Layer } from '../layer.ts'
import { isRefused } from '../refused-change.ts'
import { createHeldPaths } from './held-paths.ts'
import { landEach } from './land-each.ts'
import { permitLive } from './permit-live.ts'
import { readStamp, readStamps, type Stamps } from './read-stamps.ts'
import { showPath } from './show-path.ts'

/** Lets land what a program writes while it goes on. */
export interface Flusher {
  /** Looks at the layer. Returns whether something in it was quiet since the last look and has to land, or not. */
  look(): Promise<boolean>
  /**
   * Judges what was quiet since the last look, or all of it if this is the last time, and lets land what may. Call it when no process of the program
   * runs.
   */
  flush(options: { isLast: boolean }): Promise<void>
  /**
   * Shows the program what another one made of a path, unless the program itself has changed that. Returns whether there was something to show. Call it
   * when no process of the program runs.
   */
  show(root: string, path: string, isOther: boolean): Promise<boolean>
  /** What did not land, and why, with sockets and pipes, which never do. */
  left(): Pick<CommandOutcome, 'heldBack' | 'leftOut'>
}

/** What a flusher tells, and asks. */
export interface FlusherOptions extends Pick<Reach, 'permitChanges' | 'history'> {
  readonly onHeldBack: (held: HeldBack) => void
}

/** What took the place of a folder that was removed has no stamp of its own. */
const gone = 'gone'

/** Creates what lets land what is written to a layer. No path lands again before the program changes it once more. */
export function createFlusher(layer: Layer, options: FlusherOptions): Flusher {
  const begin = layer.moment()
  /** The stamps with which paths landed, or did not. */
  const settled = new Map<string, string>()
  /** Since when another program may not have changed a path: when the program had not written there yet, or when it landed last. */
  const since = new Map<string, bigint>()
  const held = createHeldPaths(options.onHeldBack)
  const leftOut = new Set<string>()
  let seen: Stamps = new Map()
  let [looked, lookedBefore] = [begin, begin]

  const forgetHeld = () => {
    for (const path of settled.keys()) if (held.has(path) || held.isBelow(path)) settled.delete(path)
    held.clear()
  }
  const land = async (changes: readonly Change[]): Promise<void> => {
    const landed = await layer.land(changes, {
      ...(options.history !== undefined && { history: options.history }),
      since: lookedBefore,
      sinceOf: (change) => since.get(pathOf(change)) ?? begin.ctime,
    })
    for (const path of landed.leftOut) leftOut.add(path)
    lookedBefore = layer.moment()
    for (const change of changes) since.set(pathOf(change), lookedBefore.ctime)
  }
  const findDue = async (now: Stamps, isLast: boolean): Promise<readonly Change[]> => {
    const isDue = (path: string) =>
      settled.get(path) !== (now.get(path) ?? gone) && (isLast || seen.get(path) === now.get(path))
    // What is gone from a folder that was made anew may be what another program made there.
    const changes = await layer.read((path) => !isDue(path))
    return changes.filter(
      (change) =>
        isDue(pathOf(change)) &&
        (now.has(pathOf(change)) || (changedAt(pathOf(change)) ?? 0n) <= begin.ctime),
    )
  }
  return {
    async look() {
      const moment = layer.moment()
      const now = await readStamps(layer.uppers)
      addNew(now, since, looked)
      const isDue = [...now].some(([path, stamp]) => settled.get(path) !== stamp && seen.get(path) === stamp)
      seen = now
      lookedBefore = looked.ctime > lookedBefore.ctime ? looked : lookedBefore
      looked = moment
      return isDue
    },
    async flush({ isLast }) {
      // What did not land may be able to by now.
      if (isLast) forgetHeld()
      const now = await readStamps(layer.uppers)
      addNew(now, since, looked)
      const due = await findDue(now, isLast)
      held.add(due.filter(isRefused).map((change) => [change, neverLands()] as const))
      const wanted = due.filter((change) => !isRefused(change))
      const refused = await permitLive(wanted, { layer, permit: options.permitChanges })
      held.add(refused)
      const free = wanted.filter((change) => !refused.has(change) && !held.isBelow(pathOf(change)))
      await landEach(free, land, held)
      for (const change of due) settled.set(pathOf(change), now.get(pathOf(change)) ?? gone)
      for (const [path, stamp] of now) if (isLast || seen.get(path) === stamp) settled.set(path, stamp)
    },
    async show(root, path, isOther) {
      const at = join(root, path)
      const upper = layer.uppers.get(root) ?? ''
      const before = readStamp(upper, path)
      if (before !== undefined && before !== settled.get(at)) return false
      // What this process itself let land is known.
      const changed = changedAt(at)
      if (before !== undefined && changed !== undefined && changed <= (since.get(at) ?? 0n)) return false
      const moment = layer.moment()
      const isInLayer = before !== undefined
      if (!(await showPath({ root, merged: layer.seen(root) }, path, { isInLayer, isOther }))) return false
      const after = readStamp(upper, path)
      if (after !== undefined) settled.set(at, after)
      since.set(at, moment.ctime)
      held.remove(at)
      return true
    },
    left: () => ({ heldBack: held.list(), leftOut: [...leftOut] }),
  }
}

/** Notes since when no other program may have changed what is new in the layer. */
function addNew(now: Stamps, since: Map<string, bigint>, { ctime }: Moment): void {
  for (const path of now.keys()) if (!since.has(path)) since.set(path, ctime)
}

/** When what is at a path was changed; undefined if nothing is there. */
function changedAt(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
}

function pathOf({ root, path }: Change): string {
  return join(root, path)
}

function neverLands(): ToolFailure {
  return new ToolFailure({
    reason: 'protected_path',
    message: 'Other programs of the person run or obey it without asking. Ask the person to make it.',
  })
}
