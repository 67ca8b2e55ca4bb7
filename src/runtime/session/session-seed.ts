import type { Approver } from '../../contract/approval.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ObservedAgent, OwnTool } from '../../contract/observed.ts'
import type { Registered } from '../../contract/registry.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { ToolRestriction } from '../../contract/runtime.ts'
import type { StepScope } from '../../contract/services/tasks.ts'
import type { Todo } from '../../contract/services/todo.ts'
import type { FoundTools, KeptPart, KeptSession } from '../state/session-book.ts'
import type { SessionSkills } from '../state/session-skills.ts'
import type { SessionMode } from '../state/session-mode.ts'
import type { Family } from '../state/family.ts'
import type { ViewSeed } from './session-view.ts'

/** What a session is made from; defaults are filled in, everything is checked. */
export interface SessionSeed extends ViewSeed {
  principal: Principal
  mode: SessionMode
  approver: Approver | undefined
  elicit: ElicitationHandler | undefined
  standingConsents: boolean
  /** A step that it claims has to lie in each of these. */
  claims: readonly StepScope[]
  signal: AbortSignal | undefined
  /** The agent whose own calls it decides about. */
  observes: ObservedAgent | undefined
  /** A tool of that agent that Handrail does not have. */
  ownTool(name: string, own: OwnTool): Registered
  /** Paths of files that it has to deliver. */
  deliverables: readonly string[]
  /** What narrows the set now. */
  narrowing: Family['narrowing']
  /** Narrows the set from now on; returns the function that takes that back. */
  restrict(restriction: ToolRestriction): () => void
  /** Sees every event of every session, while `watched` says so. */
  listener(event: RuntimeEvent): void
  watched(): boolean
  parent: Family | undefined
  /** The id of a session of which nothing is kept: that of an agent that another one started. Default: a new one. */
  id?: string | undefined
  /** The worktree that it is held to. */
  worktree: string | undefined
  /** What is kept of it, if it was opened by an id of its own. */
  kept: KeptSession | undefined
  todos: KeptPart<readonly Todo[]>
  ownSkills: SessionSkills
  found: FoundTools
  /** Told when the session is closed and nothing of it runs any more. */
  onClosed(): void
  /** Whether the runtime is closed, so that no other session can be opened either. */
  isRuntimeClosed(): boolean
}
