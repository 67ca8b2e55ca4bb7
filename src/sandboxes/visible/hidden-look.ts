import { lstatSync } from 'node:fs'
import { findHiddenPlaces, type HiddenPlaces, type HiddenRequest } from './hidden-places.ts'

/** How long a look for hidden places counts: from one command to the next, not longer. */
const freshMs = 1_000

/** What the sandboxes of one project must not show. */
export interface HiddenLook {
  /** At most a second old, and anew where something that it found is gone or can no longer be looked at. */
  (request: Pick<HiddenRequest, 'globs' | 'places' | 'signals'>): Promise<HiddenPlaces>
  /** Says that files may lie elsewhere, so that the next one looks anew. */
  expire(): void
}

/** Looks for what is hidden, and keeps the last look for the next command. */
export function createHiddenLook(about: Pick<HiddenRequest, 'home' | 'path' | 'launcher'>): HiddenLook {
  let last: { key: string; at: number; found: Promise<HiddenPlaces> } | undefined
  const look: HiddenLook = async ({ globs, places, signals }) => {
    const key = JSON.stringify([globs, places])
    if (last?.key === key && performance.now() - last.at < freshMs) {
      const found = await last.found
      if (isStillThere(found)) return found
    }
    const each = {
      key,
      at: performance.now(),
      found: findHiddenPlaces({ ...about, globs, places, signals }),
    }
    last = each
    each.found.catch(() => {
      if (last === each) last = undefined
    })
    return each.found
  }
  look.expire = () => (last = undefined)
  return look
}

function isStillThere({ files, folders }: HiddenPlaces): boolean {
  try {
    return [...files, ...folders].every((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
  } catch {
    return false
  }
}
