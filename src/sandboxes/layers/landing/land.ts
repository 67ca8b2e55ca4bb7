import { join } from 'node:path'
import type { EffectHistory, PathEffect } from '../../../contract/base/effects.ts'
import { aborted } from '../../files/aborted.ts'
import { holdRoot, type Folders } from './folders.ts'
import { recordEffects } from './history.ts'
import type { LandingItem, Owner } from './item.ts'
import { notPutBack, toLandingFailure } from './landing-failure.ts'
import { noteLanding, type LandingNote } from './landing-note.ts'
import { notesFolder } from '../../leftovers/notes.ts'
import { noteUnfinished } from '../../leftovers/unfinished-files.ts'
import { readMoment } from './moment.ts'
import { planLanding } from './plan.ts'
import { findModes, prepareUnits } from './prepare.ts'
import { putInForce } from './put-in-force.ts'
import { clearStage, makeStage, type HeldRoot } from './stage.ts'
import { takeBack } from './take-back.ts'

/** How items land. */
export interface LandingWay {
  /** Whom what lands belongs to, if this process is root. Absent: what replaces something has its owner, all else that of its folder. */
  readonly owner: Owner | undefined
  /** Keeps what is replaced or removed, and records what is done. Absent: no content is hashed. */
  readonly history: EffectHistory | undefined
  /** Ends it as long as nothing is in force. */
  readonly signals: readonly AbortSignal[]
  /** Takes what is left to do when all is in force, and goes on by itself; absent: the landing ends with it. */
  readonly afterwards?: ((work: () => Promise<void>) => void) | undefined
}

/**
 * Puts all items in force, or fails with a `ToolFailure` and changes nothing. If this process is killed meanwhile, `recoverLandings` of the next one takes
 * back what was in force. Without links being followed, and by folders that are held open, so that nothing outside of the roots changes. Returns the
 * effects, each folder before what is in it; none without a history.
 */
export async function land(items: readonly LandingItem[], way: LandingWay): Promise<readonly PathEffect[]> {
  const plan = planLanding(items)
  const names = [...new Set(items.map(({ root }) => root))]
  if (names.length === 0) return []
  using open = new DisposableStack()
  await using cleared = new AsyncDisposableStack()
  // What takes the stages out of the list of unfinished files. While the note has them, only who takes the landing back may remove them.
  const listed: (() => void)[] = []
  const roots = names.map((root): HeldRoot => {
    const folders = open.use(openRoot(root))
    const { stage, forget } = makeStageIn(folders)
    open.use(stage)
    cleared.defer(async () => {
      await clearStage(stage)
      for (const each of listed.splice(0)) each()
    })
    listed.push(forget)
    return { folders, stage }
  })
  const { ready, digests } = await prepareUnits(plan, roots, way)
  const modes = await findModes(plan, roots)
  const effects =
    way.history === undefined ? [] : await recordEffects({ ready, modes, roots, digests }, way.history)
  stopIfAborted(way)
  const note: LandingNote = {
    roots: roots.map(({ folders, stage }) => ({
      root: folders.top.real,
      ...(stage.above.real !== folders.top.real && { above: stage.above.real }),
      stage: stage.name,
      inode: String(stage.self.stat.ino),
    })),
    units: ready.map(({ noted }) => noted),
    modes,
    since: String(readMoment(roots[0]?.stage.self.self ?? '/').ctime),
  }
  const forgetNote = noteOrFail(note)
  for (const each of listed.splice(0)) each()
  const end = () => {
    for (const { stage } of roots) listed.push(noteUnfinished(join(stage.above.real, stage.name)))
    forgetNote()
  }
  try {
    await putInForce(ready, note, roots)
  } catch (error) {
    const left = await takeBack(note, roots)
    if (left.some((each) => each.error !== undefined)) cleared.move()
    else end()
    throw left.length === 0 ? error : notPutBack(error, left)
  }
  end()
  // What lies in a root is seen there.
  if (
    way.afterwards !== undefined &&
    roots.every(({ folders, stage }) => stage.above.real !== folders.top.real)
  ) {
    const [clearing, handles] = [cleared.move(), open.move()]
    way.afterwards(async () => {
      using _handles = handles
      await clearing.disposeAsync()
    })
  }
  return effects
}

function openRoot(root: string): Folders {
  try {
    return holdRoot(root)
  } catch (error) {
    throw toLandingFailure(error, root)
  }
}

function makeStageIn({ top }: Folders): ReturnType<typeof makeStage> {
  try {
    return makeStage(top)
  } catch (error) {
    throw toLandingFailure(error, top.real)
  }
}

function noteOrFail(note: LandingNote): () => void {
  try {
    return noteLanding(note)
  } catch (error) {
    throw toLandingFailure(error, notesFolder)
  }
}

function stopIfAborted({ signals }: LandingWay): void {
  if (signals.some((signal) => signal.aborted)) throw aborted()
}
