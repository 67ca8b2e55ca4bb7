import type { GuardedPlaces } from '../visible/guarded-places.ts'
import type { HiddenPlaces } from '../visible/hidden-places.ts'
import type { ProfilePlaces } from '../visible/profile-places.ts'
import { isInside } from '../../kit/match/is-inside.ts'

/** What a command may reach, in the words of the library, where what is denied inside of something allowed stays denied. */
export interface SandboxRules {
  readonly network: { allowedDomains: string[]; deniedDomains: string[] }
  readonly filesystem: {
    denyRead: PathEntry[]
    allowRead: PathEntry[]
    allowWrite: PathEntry[]
    denyWrite: PathEntry[]
  }
}

/** A text is a pattern where it has the signs of one; what is marked is a name, whatever signs it has. */
type PathEntry = string | { path: string; literal: true }

/** What the sandbox of one command consists of. */
export interface SandboxPlan {
  readonly places: ProfilePlaces
  /** What is readable of the machine: its programs and what they need. */
  readonly system: readonly string[]
  /** Patterns of links that programs go through. */
  readonly links: readonly string[]
  readonly hidden: HiddenPlaces
  readonly guarded: GuardedPlaces
  /** A folder of the command's own. */
  readonly own: string
  /** What the library lets every command write. */
  readonly unasked: readonly string[]
}

/**
 * The rules for one command: nothing is read but the system's programs, the roots and its own folder, nothing is written but the
 * writable roots and that folder, and it has no network.
 */
export function toSandboxRules(plan: SandboxPlan): SandboxRules {
  const { places, system, links, hidden, guarded, own } = plan
  const readable = [...system, ...places.readOnly, ...places.writable, own]
  const writable = [...places.writable, own]
  const unseen = [...hidden.files, ...hidden.folders].filter((path) => lies(path, readable))
  const unasked = plan.unasked.filter((path) => !isInside(path, '/dev') && !lies(path, writable))
  return {
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: {
      denyRead: [...(readable.includes('/') ? [] : ['/']), ...unseen].map(named),
      allowRead: [...readable.map(named), ...links],
      allowWrite: writable.map(named),
      // Denied to write as well: what cannot be read could be overwritten otherwise.
      denyWrite: [...guarded.readOnly, ...guarded.absent, ...unseen, ...unasked].map(named),
    },
  }
}

function lies(path: string, places: readonly string[]): boolean {
  return places.some((place) => isInside(path, place))
}

function named(path: string): PathEntry {
  return { path, literal: true }
}
