import type { ToolRestriction } from '../contract/runtime.ts'
import { passesLists, type ToolLists } from './passes-lists.ts'

/** What narrows the set of a session for a while: restrictions on top of each other. */
export interface Restrictions {
  /** Another value as soon as another set of tools may come out. */
  readonly version: number
  /** Whether all that is in force lets this tool through. */
  permits(name: string): boolean
  /** All of them, the oldest first. */
  list(): readonly ToolRestriction[]
  /** Puts one on top. The returned function takes this very one away, in whatever order, and does nothing a second time. */
  add(restriction: ToolRestriction): () => void
}

type Restriction = ToolLists & { readonly replace: boolean }

/** Restrictions that are kept elsewhere: `list` returns the same list for as long as nothing changed. */
export function restrictionsOf(
  list: () => readonly ToolRestriction[],
): Pick<Restrictions, 'version' | 'permits' | 'list'> {
  let seen: readonly ToolRestriction[] | undefined
  let inForce: readonly Restriction[] = []
  let version = 0
  const look = (): readonly Restriction[] => {
    const now = list()
    if (now === seen) return inForce
    seen = now
    inForce = fromLastReplacing(now.map(toRestriction))
    version++
    return inForce
  }
  return {
    get version() {
      look()
      return version
    },
    permits: (name) => look().every((each) => passesLists(name, each)),
    list,
  }
}

/** What both let through. */
export function joinRestrictions(
  one: Pick<Restrictions, 'version' | 'permits'>,
  other: Pick<Restrictions, 'version' | 'permits'>,
): Pick<Restrictions, 'version' | 'permits'> {
  return {
    get version() {
      return one.version + other.version
    },
    permits: (name) => one.permits(name) && other.permits(name),
  }
}

function fromLastReplacing(stack: readonly Restriction[]): readonly Restriction[] {
  return stack.slice(
    Math.max(
      stack.findLastIndex((each) => each.replace),
      0,
    ),
  )
}

function toRestriction({
  allowedTools = [],
  disallowedTools = [],
  replace = false,
}: ToolRestriction): Restriction {
  return { allowed: [...allowedTools], disallowed: [...disallowedTools], replace }
}

/** No restriction yet. */
export function createRestrictions(): Restrictions {
  const stack: Restriction[] = []
  let inForce: readonly Restriction[] = []
  let version = 0
  const settle = (): void => {
    inForce = fromLastReplacing(stack)
    version++
  }
  return {
    get version() {
      return version
    },
    permits: (name) => inForce.every((each) => passesLists(name, each)),
    list: () =>
      stack.map(({ allowed, disallowed, replace }) => ({
        allowedTools: [...allowed],
        disallowedTools: [...disallowed],
        replace,
      })),
    add(restriction) {
      const own = toRestriction(restriction)
      stack.push(own)
      settle()
      return () => {
        const index = stack.indexOf(own)
        if (index === -1) return
        stack.splice(index, 1)
        settle()
      }
    },
  }
}
