/** Work that waits for the disk, side by side. */
export interface SideBySide {
  /** Adds some. Resolves when there may be more; rejects if some of what was added before failed. */
  add(work: Promise<unknown>): Promise<void>
  /** Resolves when all of it is done. */
  end(): Promise<void>
}

/** How much goes on at a time. */
const most = 16

export function createSideBySide(): SideBySide {
  const going: Promise<unknown>[] = []
  const end = async () => {
    const ended = await Promise.allSettled(going.splice(0))
    for (const each of ended) if (each.status === 'rejected') throw each.reason
  }
  return {
    async add(work) {
      // It is looked at later.
      work.catch(() => {})
      if (going.push(work) >= most) await end()
    },
    end,
  }
}
