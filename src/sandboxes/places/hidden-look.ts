import { findHiddenPlaces, type HiddenPlaces, type HiddenRequest } from './hidden-places.ts'

/** How long a look for hidden places counts: from one command to the next, not longer. */
const freshMs = 1_000

/** What the sandboxes of one project must not show, at most a second old. */
export type HiddenLook = (
  request: Pick<HiddenRequest, 'globs' | 'places' | 'signals'>,
) => Promise<HiddenPlaces>

/** Looks for what is hidden, and keeps the last look for the next command. */
export function createHiddenLook(about: Pick<HiddenRequest, 'home' | 'path' | 'launcher'>): HiddenLook {
  let last: { key: string; at: number; found: Promise<HiddenPlaces> } | undefined
  return async ({ globs, places, signals }) => {
    const key = JSON.stringify([globs, places])
    if (last?.key === key && performance.now() - last.at < freshMs) return last.found
    const look = {
      key,
      at: performance.now(),
      found: findHiddenPlaces({ ...about, globs, places, signals }),
    }
    last = look
    look.found.catch(() => {
      if (last === look) last = undefined
    })
    return look.found
  }
}
