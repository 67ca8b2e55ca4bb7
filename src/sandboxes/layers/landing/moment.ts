import { statSync, utimesSync } from 'node:fs'

/** A moment, by the clocks that can tell what comes after it. */
export interface Moment {
  /** In nanoseconds, by the clock that `ctime` has. */
  readonly ctime: bigint
  readonly clocks: Clocks
}

interface Clocks {
  readonly wall: number
  readonly steady: number
}

/** How far both clocks may seem apart, in milliseconds, though none was set: they are not read at once. */
const tolerance = 20

/** The moment of now. Changes a time of this folder, which is this process's own. */
export function readMoment(folder: string): Moment {
  const now = Date.now() / 1000
  utimesSync(folder, now, now)
  return { ctime: statSync(folder, { bigint: true }).ctimeNs, clocks: readClocks() }
}

/** Whether the clock of the system was set back since: then no `ctime` tells what was changed. */
export function wasSetBack({ clocks }: Moment): boolean {
  const now = readClocks()
  return now.wall - clocks.wall < now.steady - clocks.steady - tolerance
}

/** Both as near to each other as can be had. */
function readClocks(): Clocks {
  for (let tries = 0; ; tries++) {
    const before = performance.now()
    const wall = Date.now()
    const steady = performance.now()
    if (steady - before < tolerance / 4 || tries === 10) return { wall, steady }
  }
}
