/** What may change while a client is there. */
export type ChangeKind = 'tools' | 'resources'

/** Every kind. */
export const all: ReadonlySet<ChangeKind> = new Set(['tools', 'resources'])

/** How things stand for a client. */
export interface ChangeSource {
  /** The tools that were listed last; undefined if none were. */
  listed(): readonly unknown[] | undefined
  /** Those that would be listed now. */
  tools(): readonly unknown[] | undefined
  /** Another text as soon as other resources can be listed. */
  resources(): string
}

/** A listener that is told of changes. */
export interface Follower {
  readonly kinds: ReadonlySet<ChangeKind>
  readonly notify: (kind: ChangeKind) => void
  /** Called with what went wrong with looking or notifying. */
  readonly onFault: (cause: unknown) => void
}

/** The changes that one client hears of. */
export interface Changes {
  /** How many follow. */
  readonly size: number
  /**
   * Tells within about a second, and once a second at most, where things are others than they were when this was called, or when it was told
   * last; tools, than those that were listed. Until it is stopped, or all are: then `onEnd` is called.
   */
  follow(follower: Follower, onEnd?: () => void): () => void
  /** Stops telling all followers, for good: one that follows from now on is at the end at once. */
  close(): void
}

/** A change of states or of the policy may be seen no faster. */
const lookEveryMs = 1_000

/** No followers yet; it looks for changes only while it has some. */
export function createChanges(source: ChangeSource): Changes {
  const ends = new Set<() => void>()
  let closed = false
  return {
    get size() {
      return ends.size
    },
    follow(follower, onEnd) {
      if (closed) {
        onEnd?.()
        return () => {}
      }
      const look = createLook(source, follower)
      const timer = setInterval(() => {
        try {
          look()
        } catch (cause) {
          follower.onFault(cause)
        }
      }, lookEveryMs)
      timer.unref()
      const end = (): void => {
        if (!ends.delete(end)) return
        clearInterval(timer)
        onEnd?.()
      }
      ends.add(end)
      return end
    },
    close() {
      closed = true
      for (const end of ends) end()
    },
  }
}

function createLook(source: ChangeSource, { kinds, notify }: Follower): () => void {
  let tools = source.listed()
  let listed = tools
  let resources = source.resources()
  const haveToolsChanged = (): boolean => {
    const before = listed
    listed = source.listed()
    tools ??= listed
    const now = source.tools()
    if (tools === undefined || now === undefined) return false
    // What came and went between two looks may have been listed meanwhile.
    const known = listed === undefined || listed === before ? [tools] : [tools, listed]
    tools = now
    return known.some((each) => each !== now && !areSame(now, each))
  }
  const haveResourcesChanged = (): boolean => {
    const before = resources
    resources = source.resources()
    return resources !== before
  }
  return () => {
    if (kinds.has('tools') && haveToolsChanged()) notify('tools')
    if (kinds.has('resources') && haveResourcesChanged()) notify('resources')
  }
}

/** Tools that did not change are mostly the same objects, and many clients may follow. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false
  return some.every((each, at) => each === others[at] || JSON.stringify(each) === JSON.stringify(others[at]))
}
