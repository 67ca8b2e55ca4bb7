import type { Stats } from 'node:fs'

/**
 * Something in the file system that is held open, so that what is done next is done to this very thing,
 * whatever happens to its name meanwhile. Dispose of it, or its descriptor stays open.
 */
export interface PathHandle extends Disposable {
  /** Where it is, links resolved. */
  readonly real: string
  readonly stat: Stats
  /** A path for calls of `node:fs` that means this very thing. */
  readonly self: string
  /** Opens it for reading or writing; the caller closes the descriptor. */
  open(flags: number): number
}

/** How a platform opens paths. Both throw system errors, such as `ENOENT`. */
export interface PathOpener {
  /** Opens what is at an absolute path, links followed. Compare `real` with what is allowed before using it. */
  readonly openPath: (path: string) => PathHandle
  /** Opens an entry of an open directory; a link is opened itself, not followed. */
  readonly openEntry: (directory: PathHandle, name: string) => PathHandle
}
