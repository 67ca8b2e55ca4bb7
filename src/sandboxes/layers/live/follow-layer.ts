import { setTimeout as wait } from 'node:timers/promises'
import type { CommandOutcome, HeldBack } from '../../../contract/services/sandbox.ts'
import { fateOf } from '../../../kit/match/protected-path.ts'
import { matchPath } from '../../../kit/match/match-pattern.ts'
import type { Reach } from '../../files/reach.ts'
import type { Layer } from '../layer.ts'
import { createFlusher } from './create-flusher.ts'
import { namesBelow } from './show-path.ts'
import { watchFolders } from './watch-folders.ts'

/** How long a file is quiet before it lands, and how often what others changed is shown. A look at a layer takes at most a twentieth of the time. */
const quietMs = 200
const showMs = 40
const mostOfTime = 20

/** The layer of a program that goes on beside other calls. */
export interface LiveLayer {
  /** Lets land what is left, when no process of the program does. Tells what did not land. */
  end(outcome: CommandOutcome): Promise<Pick<CommandOutcome, 'heldBack' | 'leftOut'>>
  /** Ends without that. */
  drop(): Promise<void>
}

/** What follows a layer. */
export interface Following {
  readonly reach: Pick<Reach, 'permitChanges' | 'history' | 'hidden'>
  /** Lets the program stand still. Returns what lets it go on; undefined if it cannot be stopped now. */
  readonly freeze: () => Promise<(() => void) | undefined>
  readonly onHeldBack: (held: HeldBack) => void
}

/**
 * Follows the layer of a program that goes on. What it writes lands when it was quiet for a while, each path as if it was written by a call; what another
 * program writes in the folders below is shown to it. The program stands still meanwhile, for milliseconds.
 */
export async function followLayer(layer: Layer, following: Following): Promise<LiveLayer> {
  const { reach, freeze, onHeldBack } = following
  const flusher = createFlusher(layer, { ...reach, onHeldBack })
  /** Whether each path that others changed may be another file than before. */
  const changed = new Map<string, boolean>()
  const noteChange = (root: string, path: string, isOther: boolean) => {
    const key = JSON.stringify([root, path])
    changed.set(key, isOther || changed.get(key) === true)
  }
  using watching = new DisposableStack()
  const skips = createSkips(reach.hidden())
  for (const root of layer.uppers.keys()) {
    const onChange = (path: string, isOther: boolean) => noteChange(root, path, isOther)
    watching.use(await watchFolders(root, { skips: (path) => skips(root, path), onChange }))
  }
  const watchers = watching.move()
  const ended = new AbortController()
  const whileFrozen = async (work: () => Promise<void>): Promise<boolean> => {
    const thaw = await freeze()
    if (thaw === undefined) return false
    try {
      await work()
    } finally {
      thaw()
    }
    return true
  }
  const showAll = async () => {
    for (const [each, isOther] of Array.from(changed)) {
      changed.delete(each)
      const [root, path] = JSON.parse(each) as [string, string]
      // If it cannot be shown, it is changed again, or the program sees it as it was.
      const isShown = await flusher.show(root, path, isOther).catch(() => false)
      for (const below of isShown && isOther ? namesBelow(root, path) : [])
        if (!skips(root, below)) noteChange(root, below, true)
    }
  }
  const pause = (ms: number) => wait(ms, undefined, { ref: false, signal: ended.signal }).catch(() => {})
  const follow = async () => {
    for (let next = performance.now() + quietMs; !ended.signal.aborted; await pause(showMs)) {
      if (changed.size > 0) await whileFrozen(showAll)
      const begun = performance.now()
      if (begun < next) continue
      const isDue = await flusher.look().catch(() => false)
      const tookMs = performance.now() - begun
      if (isDue && !ended.signal.aborted)
        await whileFrozen(() => flusher.flush({ isLast: false })).catch(() => {})
      next = performance.now() + Math.max(quietMs, tookMs * mostOfTime)
    }
  }
  const followed = follow()
  const stop = async () => {
    ended.abort()
    watchers.dispose()
    await followed
  }
  return {
    drop: stop,
    async end({ survivors }) {
      await stop()
      if (survivors.length === 0) await flusher.flush({ isLast: true })
      return flusher.left()
    },
  }
}

/** What others change there is not shown: what programs find hidden or read-only, what git keeps, and what comes from registries. */
function createSkips(hidden: readonly string[]): (root: string, path: string) => boolean {
  const globs = hidden.map((glob) => glob.toLowerCase())
  return (root, path) => {
    if (path === '') return false
    if (fateOf(path) !== undefined) return true
    if (
      path
        .split('/')
        .some((name) => name === '.git' || name === 'node_modules' || name.startsWith('.handrail-'))
    )
      return true
    const whole = `${root}/${path}`.toLowerCase()
    return globs.some((glob) => matchPath(glob, whole) || matchPath(glob, path.toLowerCase()))
  }
}
