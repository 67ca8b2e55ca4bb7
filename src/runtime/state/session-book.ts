import type { Mode, Principal } from '../../contract/base/principal.ts'
import type { Todo } from '../../contract/services/todo.ts'
import type { Registered } from '../../contract/registry.ts'
import type { SessionApproval, ToolRestriction } from '../../contract/runtime.ts'
import type { SessionSkills } from './session-skills.ts'
import type { SessionCounts } from './family.ts'

/** A yes for the session, and until which tick it holds. */
export interface HeldApproval extends SessionApproval {
  /** Of the tool that the person saw. */
  readonly identity: string
  readonly until: number
}

/** The yeses for a session, by keys of the identity of a tool and a scope. In memory only, but for a session with an id of its own. */
export interface SessionApprovals {
  readonly size: number
  get(key: string): HeldApproval | undefined
  set(key: string, approval: HeldApproval): void
  delete(key: string): void
  /** Forgets those that no store keeps. */
  clear(): void
  entries(): IterableIterator<[string, HeldApproval]>
}

/** The sessions that were opened by an id of their own, and what is kept of them. */
export interface SessionBook {
  /** Why this principal cannot open a session of this id; undefined if it can. */
  findIssue(id: string, principal: Principal): string | undefined
  /** Opens it, for the first time or again. */
  open(id: string, principal: Principal): KeptSession
}

/** One thing that a session has. In memory only, but for a session with an id of its own. */
export interface KeptPart<Value> {
  read(): Value | undefined
  /** Puts another one in its place; undefined forgets it. Rejects if the store does not take it. */
  write(value: Value | undefined): Promise<void>
}

/** So many deferred tools a session is shown at most: providers take few more, and what a model is shown is never taken away from it. */
export const mostFound = 64

/** The deferred tools that searches of a session found. */
export interface FoundTools {
  /** Canonical names, in the order in which they were found, `mostFound` at most: the same list for as long as none is added. */
  read(): readonly string[]
  /** Adds those that are not among them, as far as there is room. Rejects if the store does not take it. */
  add(names: readonly string[]): Promise<void>
}

/** Plan mode that a call entered. */
export interface EnteredPlan {
  /** The mode that the session had before. */
  readonly before: Mode
}

/** What is kept of one session. It counts in every process that has the session open. */
export interface KeptSession {
  readonly id: string
  readonly approvals: SessionApprovals
  /** What it has done so far: the same for all who have it open in this process. */
  readonly counts: SessionCounts
  /**
   * Counts what the evidence has of it besides: at the first time what was before, then what other processes do that have it open. Costs nothing while
   * none has. `countsAll`: its calls have a limit; then the first time reads all evidence of the tenant.
   */
  catchUp(about: { find: (name: string) => Registered | undefined; countsAll: boolean }): void
  /** It is not open here any more, as often as it was opened. */
  close(): void
  /** What narrows it, in the order in which that was added. */
  restrictions(): readonly ToolRestriction[]
  /** In the place of the one with this name. Returns what ends it. */
  restrict(name: string, restriction: ToolRestriction): () => void
  /** Undefined if no call entered plan mode. */
  readonly plan: KeptPart<EnteredPlan>
  readonly todos: KeptPart<readonly Todo[]>
  readonly skills: SessionSkills
  readonly found: FoundTools
  /** Forgets all of it. Resolves when that is durable. */
  forget(): Promise<void>
}
