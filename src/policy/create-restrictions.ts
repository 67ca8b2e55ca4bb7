import type { ToolRestriction } from '../contract/runtime.ts'
import { passesLists, type ToolLists } from './passes-lists.ts'

/** What narrows the set of a session for a while: restrictions on top of each other. */
export interface Restrictions {
  /** Another value as soon as another set of tools may come out. */
  readonly version: number
  /** Whether all that is in force lets this tool through. */
  permits(name: string): boolean
  /** Puts one on top. The returned function takes this very one away, in whatever order, and does nothing a second time. */
  add(restriction: ToolRestriction): () => void
}

type Restriction = ToolLists & { readonly replace: boolean }

/** No restriction yet. */
export function createRestrictions(): Restrictions {
  const stack: Restriction[] = []
  let inForce: readonly Restriction[] = []
  let version = 0
  const settle = (): void => {
    const base = stack.findLastIndex((each) => each.replace)
    inForce = stack.slice(Math.max(base, 0))
    version++
  }
  return {
    get version() {
      return version
    },
    permits: (name) => inForce.every((each) => passesLists(name, each)),
    add({ allowedTools = [], disallowedTools = [], replace = false }) {
      const own = { allowed: [...allowedTools], disallowed: [...disallowedTools], replace }
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
