import { setImmediate as giveWay } from 'node:timers/promises'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { describeGround, describeSurface, type Ground } from './layer-ground.ts'
import type { LayerWay } from './layer-namespace.ts'
import { openLayer, type Layer } from './layer.ts'

/** Layers for the commands of one sandbox. Close it, after them. */
export interface Layers {
  /** As `openLayer`; disposing of the layer does not wait until what it held is removed. */
  open(ground: Ground, way: LayerWay, signals?: readonly AbortSignal[]): Promise<Layer>
  /** Why no such layer can be opened; undefined if one can. Tries it, and leaves nothing. */
  findHindrance(ground: Ground, way: LayerWay): Promise<ToolFailure | undefined>
  /** Resolves when nothing of any layer is left. */
  close(): Promise<void>
}

/** How long a layer waits for a command. It holds file systems that a person may want to unmount. */
const spareMs = 60_000

/** A layer that lies over its roots before its command comes. The kernel has cached no entry below the roots, because no process looked into the layer. */
interface Spare {
  readonly layer: Layer
  readonly ground: string
  readonly surface: string
}

/**
 * Creates the layers of a sandbox. When an overlay is disposed of, the next one is made over the same roots, before its command comes. A command gets it
 * if the roots are still the same folders and the mounts of the machine are the same. The command sees the files as they are when it runs.
 */
export function createLayers(launcher: Launcher | undefined): Layers {
  const ending = new Set<Promise<void>>()
  let spare: { made: Promise<Spare | undefined>; timer: NodeJS.Timeout } | undefined
  let isClosed = false
  const end = (work: () => PromiseLike<void>) => {
    const ended: Promise<void> = Promise.resolve(work())
      // The next start of Handrail removes a folder that cannot be removed now.
      .catch(() => {})
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  const take = () => {
    const taken = spare
    spare = undefined
    clearTimeout(taken?.timer)
    return taken?.made
  }
  const drop = () => {
    const dropped = take()
    if (dropped !== undefined) end(async () => (await dropped)?.layer[Symbol.asyncDispose]())
  }
  const refill = (ground: Ground) => {
    if (isClosed || spare !== undefined) return
    const timer = setTimeout(drop, spareMs)
    timer.unref()
    spare = { made: makeSpare(ground, launcher), timer }
  }
  const takeFitting = async (ground: Ground) => {
    const taken = await take()
    if (taken === undefined || fits(taken, ground)) return taken?.layer
    end(() => taken.layer[Symbol.asyncDispose]())
    return undefined
  }
  return {
    async open(ground, way, signals = []) {
      const spareOne = way === 'overlay' ? await takeFitting(ground) : undefined
      const layer = spareOne ?? (await openLayer({ ...ground, launcher, way, signals }))
      layer.begin()
      return {
        ...layer,
        [Symbol.asyncDispose]: () => {
          end(async () => {
            // The result of the command goes first.
            await giveWay()
            if (way === 'overlay') refill(ground)
            await layer[Symbol.asyncDispose]()
          })
          return Promise.resolve()
        },
      }
    },
    async findHindrance(ground, way) {
      try {
        await using _tried = await openLayer({ ...ground, launcher, way })
        return undefined
      } catch (error) {
        if (error instanceof ToolFailure) return error
        throw error
      }
    },
    async close() {
      isClosed = true
      drop()
      while (ending.size > 0) await Promise.all(ending)
    },
  }
}

/** Makes a spare layer. Undefined if it cannot be made: the next command then opens one itself, and fails with the reason. */
async function makeSpare(ground: Ground, launcher: Launcher | undefined): Promise<Spare | undefined> {
  try {
    const before = describeGround(ground)
    const layer = await openLayer({ ...ground, launcher, way: 'overlay' })
    const spare = { layer, ground: before, surface: describeSurface(layer, ground) }
    if (fits(spare, ground)) return spare
    await layer[Symbol.asyncDispose]()
  } catch {
    // The next command meets the same failure, and reports it.
  }
  return undefined
}

function fits({ layer, ground, surface }: Spare, wanted: Ground): boolean {
  try {
    return describeGround(wanted) === ground && describeSurface(layer, wanted) === surface
  } catch {
    return false
  }
}
