import { statfsSync } from 'node:fs'
import { ToolFailure } from '../../contract/base/errors.ts'
import { countBytes } from '../../kit/text/describe-effect.ts'
import { openPath } from '../files/open-path.ts'
import { walkBelow } from './landing/walk-below.ts'
import type { Layer } from './layer.ts'

/** How often it is looked, and after how many looks the layer itself is measured in any case: other programs may make room meanwhile. */
const lookMs = 200
const mostRough = 25

/**
 * Says once that a layer holds more bytes than it may. Looks at what is free on its disk, and measures the layer only when half of the bound is gone. Dispose
 * of it with the command.
 */
export function watchSize({ uppers }: Layer, maxBytes: number, onOver: () => void): Disposable {
  const [first] = uppers.values()
  if (first === undefined) return { [Symbol.dispose]() {} }
  const free = () => {
    const { bavail, bsize } = statfsSync(first)
    return bavail * bsize
  }
  const before = free()
  let rough = 0
  let isMeasuring = false
  const look = async () => {
    if (isMeasuring || (before - free() < maxBytes / 2 && ++rough < mostRough)) return
    rough = 0
    isMeasuring = true
    if ((await measure(uppers.values())) > maxBytes) {
      clearInterval(timer)
      onOver()
    }
    isMeasuring = false
  }
  // What cannot be measured now is measured at the next look.
  const timer = setInterval(() => void look().catch(() => (isMeasuring = false)), lookMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Bytes on the disk of all that is in these folders. */
async function measure(folders: Iterable<string>): Promise<number> {
  let blocks = 0n
  for (const folder of folders) {
    using top = openPath(folder)
    await walkBelow(top, ({ stat }) => void (blocks += stat.blocks), { skipsGone: true })
  }
  return Number(blocks) * 512
}

/** Why a command was stopped whose layer held more than it may. */
export function tooMuchHeld(maxBytes: number): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `The command wrote more than ${countBytes(maxBytes)} while it was held back, so it was stopped. Nothing of it was kept that had not landed. Let it write less, or raise "layerBytes" of the sandbox.`,
  })
}
