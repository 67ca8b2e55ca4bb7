import type { Presentation, SessionModel } from '../../contract/base/call.ts'
import type { AgentHost } from '../../contract/agent-host.ts'
import type { Session } from '../../contract/runtime.ts'
import type { RuntimeLimits } from '../../contract/configuration.ts'
import type { DecisionPoint } from '../../contract/decision-point.ts'
import type { Evidence } from '../../contract/evidence-log.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { History } from '../../contract/history.ts'
import type { Obligations } from '../../contract/obligations.ts'
import type { PostToolUseHook, PreToolUseHook } from '../../contract/hook.ts'
import type { ObservedAgent } from '../../contract/observed.ts'
import type { Bounds, PolicyEngine } from '../../contract/policy.ts'
import type { Ancestor, Mode, Principal } from '../../contract/base/principal.ts'
import type { Registered, Registry, ToolStatus } from '../../contract/registry.ts'
import type { Isolates } from '../../contract/services/isolates.ts'
import type { Sandbox } from '../../contract/services/sandbox.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { ScheduleBook } from '../../contract/services/schedules.ts'
import type { MemoryBook } from '../../contract/services/memory.ts'
import type { StepScope, TaskBook } from '../../contract/services/tasks.ts'
import type { LoadedSkill } from '../../contract/services/skill.ts'
import type { CallObserver } from '../../contract/telemetry.ts'
import type { Todo } from '../../contract/services/todo.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { ArtifactStore, Store } from '../../contract/store.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import type { PauseBook } from '../stops/pause-book.ts'
import type { WorkBook } from '../stops/work-book.ts'
import type { BudgetPlan } from './budget-state.ts'
import type { SessionCounts } from './family.ts'
import type { ApprovalBook } from './approval-book.ts'
import type { ConsentBook } from './consent-book.ts'
import type { ResourcePool } from './resource-pool.ts'
import type { ReadInstructions } from './read-instructions.ts'
import type { JobCallbacks } from './job-callbacks.ts'
import type { JobTable } from './job-table.ts'
import type { SessionPartCalls } from './part-of.ts'
import type { RunningCalls } from './running-calls.ts'
import type { Endings } from './endings.ts'
import type { FoundTools, KeptPart, SessionApprovals, SessionBook } from './session-book.ts'
import type { SessionMode } from './session-mode.ts'
import type { SessionSkills } from './session-skills.ts'
import type { Slots, ToolSlots } from './slots.ts'

/**
 * Immutable snapshot of everything that a tenant's calls depend on. A change of the policy makes a new one: the next call starts
 * with it, and a call that runs keeps the one it started with.
 */
export interface TenantContext {
  /** The context that calls start with now. */
  latest(): TenantContext
  readonly project: string
  readonly registry: Registry
  readonly checker: SchemaChecker
  readonly policy: PolicyEngine
  /** Counts up with each change of the policy. */
  readonly policyVersion: number
  /** Asked in this order; all must permit. None means that the rules alone decide. */
  readonly decisionPoints: readonly DecisionPoint[]
  /** What any call of this tenant may reach at most. */
  readonly bounds: Bounds
  /** Lists of patterns that a tool's name must meet, each; an empty list lets none through. */
  readonly toolLists: readonly (readonly string[])[]
  readonly disallowedTools: readonly string[]
  /** What the grants of the policy leave of these bounds for one principal and tool. */
  grantBounds(principal: Principal, definition: ToolDefinition, base: Bounds): Bounds
  /** Undefined if the policy has none. */
  readonly budgets: BudgetPlan | undefined
  /** Undefined if the policy has none for this tenant. */
  readonly obligations: Obligations | undefined
  readonly consents: ConsentBook
  readonly approvals: ApprovalBook
  /** What is paused, and what runs. */
  readonly stops: Pick<PauseBook, 'find'> & Pick<WorkBook, 'add'>
  readonly sessions: SessionBook
  readonly sandbox: Sandbox
  readonly isolates: Isolates
  /** What starts agents for calls. */
  agentHost(): AgentHost
  readonly store: Store
  readonly evidence: Evidence
  readonly artifacts: ArtifactStore
  /** What calls replace or remove; undefined if nothing is kept. */
  readonly history: History | undefined
  readonly tasks: TaskBook
  readonly jobCallbacks: JobCallbacks
  readonly schedules: ScheduleBook
  readonly memory: MemoryBook
  readonly redactor: Redactor
  /** Whether a write of a turn may run beside earlier reads of it that touch something else. */
  readonly overlapCalls: boolean
  readonly limits: Required<Omit<RuntimeLimits, 'callsPerSession'>> & { callsPerSession: number | undefined }
  readonly hooks: { readonly before: readonly PreToolUseHook[]; readonly after: readonly PostToolUseHook[] }
  readonly services: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  /** What the tenant's policy sets for its tools, by canonical name. */
  readonly settings: { readonly [tool: string]: JsonObject }
  /** Names of files that tell how to work in a project. */
  readonly instructionFiles: ReadonlySet<string>
  /**
   * By what the operator says what is let through: a program's own calls, or the command line and its files. `operator`: at the command line, for a
   * command that only they run.
   */
  readonly operatedBy: 'program' | 'command line' | 'operator'
  /** Names of the environment variables that commands see. */
  readonly env: readonly string[]
  readonly running: RunningCalls
  readonly slots: ToolSlots
  /** Undefined if no observer is set. */
  readonly observer: CallObserver | undefined
  /** Milliseconds since the epoch, for what is written down. */
  now(): number
  /** Milliseconds of a monotonic clock, for how long something takes. */
  readonly tick: () => number
  /** For causes that no caller may see. */
  logError(about: { call: string; tool: string; cause: unknown }): void
}

/** What a session adds. */
export interface SessionState {
  readonly id: string
  readonly principal: Principal
  /** As of now, as `modes` says. */
  readonly mode: Mode
  /** The session as a program has it. */
  opened(): Session
  readonly parts: SessionPartCalls
  /** Whether its work goes on when it is closed, as a program opens it again by its id. */
  readonly staysOpen: boolean
  /** Whether it goes on under the same id after its process ended, as that of an agent. */
  readonly isResumed: boolean
  readonly modes: SessionMode
  readonly todos: KeptPart<readonly Todo[]>
  /** A step that it claims has to lie in each of these. */
  readonly claims: readonly StepScope[]
  /** The skills that it follows, loaded by its own calls. */
  readonly ownSkills: SessionSkills
  /** With those of the sessions above. */
  readonly skills: () => readonly LoadedSkill[]
  /** Whether standing consents answer for the person. */
  readonly standingConsents: boolean
  /** What the person allowed for this session. */
  readonly approvals: SessionApprovals
  /** Undefined for a session that no other one opened. */
  readonly ancestors: readonly Ancestor[] | undefined
  /** The worktree of the project that its calls are held to. */
  readonly worktree: string | undefined
  readonly counts: SessionCounts
  /** Counts what other processes did that have the session open; undefined for one that no other process can open. */
  readonly catchUp: (() => void) | undefined
  /** The agent that runs its calls itself; undefined if Handrail does. */
  readonly observes: ObservedAgent | undefined
  /** Of agent-starting calls, with those of the sessions above and below. */
  readonly agentSlots: Slots
  readonly endings: Endings
  /** Commands that outlast their call. */
  readonly jobs: JobTable
  /** What its tools keep from one call to the next. */
  readonly sessionResources: ResourcePool
  readonly instructions: ReadInstructions
  /** A tool of this session, whether or not it may be called. */
  find(name: string, presentation: Presentation): Registered | undefined
  /** Why a tool may not be called; undefined if it may. */
  exclusion(registered: Registered, model?: SessionModel): string | undefined
  /** Where a tool stood when it was last looked for. */
  status(registered: Registered): ToolStatus
  /** The deferred tools that are in the set and have one of the words, the best first. */
  search(words: string): Iterable<Registered>
  /** Those that searches found. */
  readonly found: FoundTools
  /** Names a model may be pointed to. */
  names(model?: SessionModel): Iterable<string>
  watched(): boolean
  emit(event: Omit<RuntimeEvent, 'sequence' | 'at' | 'tenant' | 'session' | 'actor' | 'role'>): void
}

/** The tenant's context and the session, as each step sees them. */
export interface CallScope {
  readonly tenant: TenantContext
  readonly session: SessionState
}
