import type { Principal } from './principal.ts'
import type { Services } from './services.ts'

/** One thing a call would do to the outside. Paths are absolute and resolved; hosts are lower case. */
export type Operation =
  | { kind: 'fs.read'; path: string; recursive?: boolean }
  | { kind: 'fs.write'; path: string }
  | { kind: 'process'; executable: string; argv: readonly string[]; cwd: string }
  | { kind: 'net'; host: string; url: string }
  | { kind: 'other'; resource: string }

/** What a person sees before saying yes. An approval is bound to its digest. */
export interface Preview {
  kind: 'diff' | 'argv' | 'host' | 'text'
  /** One line: what would happen to which thing. */
  title: string
  body: string
}

/** What a call would do. */
export interface Plan {
  operations: readonly Operation[]
  preview?: Preview
  /**
   * How far an allow_for_session reaches: a directory, a host, an executable with its working directory.
   * Without it, such a yes holds for the same input only.
   */
  scope?: string
  /** Handed to `run` as `context.planned`, so that run does what the preview showed. */
  planned?: unknown
}

/** What a plan is given: it may read and resolve, not write. It has these services whatever the tool names in `needs`. */
export interface PlanContext extends Pick<Services, 'files' | 'search' | 'commands' | 'network'> {
  readonly principal: Principal
  readonly project: string
  /** Absolute paths of the folders that calls may write, whatever this one may: what lies there may be the work of a call. */
  readonly writable: readonly string[]
}
