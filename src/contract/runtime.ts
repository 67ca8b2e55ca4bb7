import type { Stops } from './base/stop.ts'
import type { Presentation, Origin, SessionModel } from './base/call.ts'
import type { CallError } from './base/errors.ts'
import type { AgentRun, AgentRuns, RunTask } from './agent-run.ts'
import type { CallRequest } from './call-request.ts'
import type { RuntimeEvent } from './events.ts'
import type { ElicitationHandler } from './base/elicitation.ts'
import type { PastCall } from './services/history.ts'
import type { InstructionBlock } from './services/instructions.ts'
import type { PendingApprovals, StepResult } from './pending-approval.ts'
import type { Plan, Preview } from './tool/plan.ts'
import type { Profile } from './base/profile.ts'
import type { ProjectConfiguration, RuntimeLimits } from './configuration.ts'
import type { Deliverable } from './deliverable.ts'
import type { Job } from './services/job.ts'
import type { Consents } from './consent.ts'
import type { Alternative, BudgetUnit, Decision, Effect, Policy } from './policy.ts'
import type { ObservedAgent, ObservedCalls } from './observed.ts'
import type { Mode, Principal, Role } from './base/principal.ts'
import type { RuntimeMemory } from './memory.ts'
import type { RuntimeSchedules } from './scheduler.ts'
import type { ToolResult } from './base/result.ts'
import type { AgentTasks, StepScope } from './services/tasks.ts'
import type { LoadedSkill } from './services/skill.ts'
import type { Todo } from './services/todo.ts'
import type { Approver } from './approval.ts'
import type {
  DefinitionApproval,
  PresentedTool,
  RegisterOptions,
  Registry,
  RemoveOptions,
  StateChange,
  ToolState,
} from './registry.ts'
import type { ArtifactStore, Store } from './store.ts'
import type { Compatibility, Limits, Tool, ToolSource } from './tool/tool.ts'

/** How a session is opened. Unknown fields are refused. */
export interface SessionOptions {
  /**
   * An id of the program's own, such as that of a conversation. A session that was opened by it before goes on: its yeses for the session that
   * hold, what narrows its tools, and the number of its calls. It is of one tenant, actor and role. Closing it forgets nothing of that; with
   * `close({ forget: true })` it is forgotten, and so is what was not opened for 90 days. Default: a new one.
   */
  id?: string
  /** Default `main`. */
  role?: Role
  /** Default: the policy's mode. */
  mode?: Mode
  /** Default `local`. */
  tenant?: string
  /** Default `user`. */
  actor?: string
  /** The agent behind the session, shown to the person who is asked. */
  agent?: Principal['agent']
  /**
   * The model behind the session: tools whose manifest names other providers or models are not in its set. Default: the model that a call, a run or a door to
   * an API of a model names; without one, all are.
   */
  model?: SessionModel
  /** Canonical names or patterns; absent or empty means no filter. */
  allowedTools?: readonly string[]
  /** Canonical names or patterns; beats `allowedTools`. */
  disallowedTools?: readonly string[]
  /** The only steps of tasks that its calls may claim. Default: all, or as the parent has it. */
  claims?: StepScope
  /** Asks the person of this session; default the runtime's approver. */
  approve?: Approver
  /** Answers what calls of this session ask before they go on; default that of the runtime. */
  elicit?: ElicitationHandler
  /** Whether standing consents answer for the person; if not, the person is asked. Default true, or as the parent has it. */
  standingConsents?: boolean
  signal?: AbortSignal
  /**
   * Files that it has to deliver: paths relative to the project, below `deliverables/`. When it is closed after calls, those that are there
   * become artifacts, the run archive gets copies, and the end of the session says what is missing.
   */
  deliverables?: readonly string[]
  /**
   * The session that opens this one, so that this one can do what that one may, or less: it is of the same tenant and actor; its role
   * and mode reach no further; its tools are those of its own role and lists that the parent has too; every rule, grant and decision
   * point must let both through; the parent's approver and elicitation handler are asked, unless a call names its own. It starts without the parent's yeses for the session, its calls
   * count as the parent's too, and it is closed with it. Default role `sub`, or the parent's where that is less; default mode the parent's.
   */
  parent?: Session
  /** The agent whose own calls the session decides about and records: it has `observed` then. Default: none. */
  observes?: ObservedAgent
}

/** Fewer tools for a while, such as while a skill is followed. Unknown fields are refused. */
export interface ToolRestriction {
  /** Canonical names or patterns; absent or empty means no filter. */
  allowedTools?: readonly string[]
  /** Canonical names or patterns; beats `allowedTools`. */
  disallowedTools?: readonly string[]
  /**
   * Whether it stands in the place of the restrictions before it, rather than narrowing what they leave. What the session itself was
   * opened with is the limit all the same. Default false.
   */
  replace?: boolean
  /**
   * Names it in a session with an id of its own: one that is added under the same name stands in its place, also in another process. Default: a new
   * name, so that it stands until the returned function ends it in this process.
   */
  name?: string
}

/** What narrows the tools of a session, beside its role and mode: what it was opened with, and its restrictions, the oldest first. */
export interface SessionNarrowing extends Pick<SessionOptions, 'allowedTools' | 'disallowedTools' | 'model'> {
  readonly restrictions: readonly ToolRestriction[]
}

/** Which tools of a session are shown, and how. */
export interface ToolsOptions {
  /** Default `canonical`. */
  presentation?: Presentation
  /** Default false: copies. */
  shared?: boolean
  /** Deferred tools too. Default false. */
  all?: boolean
  /** The model that they are shown to. */
  model?: SessionModel
}

/** One principal's work in one project. */
export interface Session {
  readonly id: string
  readonly principal: Principal
  /** As of now: `plan` while a call has it, or a session above. */
  readonly mode: Mode
  /**
   * The effective set, in stable order, as a model sees it: plain copies, to do with as one likes. With `shared`, the definitions
   * themselves, which are frozen: the same objects as long as nothing changed of them, and nothing to copy for a set of thousands. Deferred tools that a
   * search of the session found stand behind the others, in the order in which they were found; with `all`, those that were not found too, each in its
   * place. With `model`, those that work with it, unless the session names its own.
   */
  tools(options?: ToolsOptions): readonly PresentedTool[]
  /** One call in the pipeline. Never rejects for what happened to the call. */
  call(tool: string, input?: unknown, options?: Omit<CallRequest, 'tool' | 'input'>): Promise<ToolResult>
  /** The calls of one model answer: reads beside each other, writes alone, results in call order, one for each. */
  turn(
    calls: readonly CallRequest[],
    options?: { signal?: AbortSignal; origin?: Origin },
  ): Promise<TurnResult>
  /**
   * As `turn`, and never waits for a person: of a call that asks, the question is kept (see `Runtime.approvals`) and the call is among those that
   * wait. A write that waits does not stop the rest. The approver of the session is not asked, unless it decides ahead.
   */
  step(calls: readonly CallRequest[], options?: StepOptions): Promise<StepResult>
  /**
   * Goes on with a step: calls whose question was answered run, once, or are denied; the others wait on. In any process, if the session has the
   * same principal: the step is plain JSON. What would happen differently by now is asked anew. A call that ran elsewhere already is not run again.
   * With `wait`, the approver of the session is asked about those that are not answered.
   */
  resume(step: StepResult, options?: Pick<StepOptions, 'signal' | 'wait'>): Promise<StepResult>
  /** Records that a person said no to a call elsewhere, such as in the dialog of a model SDK. Nothing runs; its result says so. */
  refuse(call: CallRequest, no: { by: string; reason?: string }): Promise<ToolResult>
  /** Calls that an agent runs itself. Only of a session that was opened with `observes`. */
  readonly observed?: ObservedCalls
  /** What would happen: every step up to the approval, without asking anybody and without any effect. */
  preflight(
    tool: string,
    input?: unknown,
    options?: Pick<
      CallRequest,
      'presentation' | 'origin' | 'consent' | 'idempotencyKey' | 'model' | 'approve'
    >,
  ): Promise<Preflight>
  /** Whether `step` would let a call wait for a person now. It costs a fraction of `preflight`, which says why. */
  asks(
    tool: string,
    input?: unknown,
    options?: Pick<CallRequest, 'presentation' | 'origin' | 'consent' | 'idempotencyKey' | 'model'>,
  ): Promise<boolean>
  /**
   * Aborts the calls that run under this id, Handrail's own or the provider's; the reason is told to the model. False if none
   * does. The rest of their turn goes on, unless the aborted call was a write.
   */
  abort(id: string, reason?: string): boolean
  /** What this session's principal could do with each tool right now: manifest ∩ policy ∩ quota ∩ state. For operators, not for models. */
  available(): Promise<AvailableSpec>
  /**
   * Takes the tools that there are now: definitions and implementations. Calls that run keep theirs. Without it a session keeps those it
   * started with; where a tool stands, and what the policy says, is always as of now.
   */
  refresh(): void
  /**
   * Narrows the set of tools from the next call on; a call that runs goes on, and one that a person is being asked about goes stale where
   * its tool is left out. Returns what ends this very restriction, in whatever order restrictions end. Throws a SetupError for a faulty one.
   */
  restrict(restriction: ToolRestriction): () => void
  on(listener: (event: RuntimeEvent) => void): () => void
  /** What files of instructions say that calls of this session have read whole, as they were when they were last read. */
  instructions(): readonly InstructionBlock[]
  /** What its agent has to do, by its last call of `plan.todo_write`; empty if there was none. */
  todos(): readonly Todo[]
  /** The skills that it follows, with those of the sessions above, in the order in which they were loaded. */
  skills(): readonly LoadedSkill[]
  /**
   * Ends the skills that calls of this session loaded, and all that they narrowed. A run does so when it has completed. Rejects, and changes nothing, if the store
   * does not take it.
   */
  endSkills(): Promise<void>
  /** The commands that it runs in the background, and the last that ended, the oldest first. */
  jobs(): readonly Job[]
  /** What the person allowed for this session and still holds, the oldest first. */
  approvals(): readonly SessionApproval[]
  /**
   * Takes back what the person allowed for this session with their answer to this call: from the next call on they are asked again. A
   * note in the evidence says who did it. False when nothing holds that was allowed then.
   */
  revokeApproval(call: string, by: string): boolean
  /** What became of what this session has to deliver: as it is now, or as it was when the session was closed. */
  deliverables(): Promise<readonly Deliverable[]>
  /** Aborts what runs and forgets the session's grants; of a session with an id of its own only with `forget`. */
  close(options?: { forget?: boolean }): Promise<void>
}

/** A yes of the person for a session. It ends with the session at the latest. */
export interface SessionApproval {
  /** The call that they were asked about. */
  readonly call: string
  /** Canonical name. */
  readonly tool: string
  /** How far it reaches: the scope that the plan named, or `this very input`. */
  readonly scope: string
  /** Milliseconds since the epoch, like `expiresAt`, which is there when the tool's manifest says how long a yes holds. */
  readonly givenAt: number
  readonly expiresAt?: number
}

/** How the calls of a step run. */
export interface StepOptions {
  signal?: AbortSignal
  /** For the calls that name none. Default `llm`. */
  origin?: Origin
  /** Whether the approver of the session is asked while a call stands, as in a turn. Default false. */
  wait?: boolean
  /**
   * Whether calls that the session has begun before under the same id, in whatever process, are not run again: their result is what was recorded then.
   * For a program that goes on after it was ended; their ids must be of the program's own, as some providers count theirs from zero. Default false.
   */
  once?: boolean
  /**
   * Whether a call that waits comes back as a new call of the model, under an id of its own, and not by `resume`: the next one that is the same gets
   * its answer, once. Default false.
   */
  anew?: boolean
}

export interface TurnResult {
  /** One for every call, in call order. */
  results: readonly ToolResult[]
  endReason: 'completed' | 'stopped_after_failed_write' | 'aborted_tools'
}

/** The steps that a preflight reports, in order. */
export const preflightSteps = ['find', 'check-input', 'authorise', 'plan', 'hook', 'approve'] as const

/** One step of a preflight. */
export interface StepReport {
  step: (typeof preflightSteps)[number]
  outcome: 'passed' | 'stopped' | 'would_ask' | 'not_reached'
  note: string
}

/** A budget as it stands for one call. */
export interface BudgetState {
  id: string
  unit: BudgetUnit
  limit: number
  spent: number
  /**
   * Held for calls that run, and of a large budget, by processes other than this one, for the next calls of each: what those do not take is
   * given back within seconds.
   */
  reserved: number
  /** When its window ends, in milliseconds since the epoch; absent for a budget in total. */
  endsAt?: number
}

/** What the first six steps say about a call. */
export interface Preflight {
  tool: string
  /** Whether the call would run now: at once, after a person's yes, or not at all. */
  effect: 'allow' | 'ask' | 'deny'
  steps: readonly StepReport[]
  /** Its verdicts are what every layer said, also what was answered or overruled. */
  decision?: Decision
  /** What would decide if what decides now were not there. */
  alternatives?: readonly Alternative[]
  error?: CallError
  profile?: Profile
  /** What isolates the programs of the call, in words; absent for a call that runs none. */
  sandbox?: string
  profileHash?: string
  plan?: Pick<Plan, 'operations' | 'scope'>
  preview?: Preview
  /** Names the input, secrets and all; keyed with the secret of the store. A standing consent may name it as its scope. */
  inputDigest?: string
  /** The earlier call with the same idempotency key whose result would be given; nothing would run. */
  keptFrom?: string
  budget: {
    calls: { used: number; limit: number | null }
    repeats: { used: number; limit: number | null }
    timeoutMs?: number
    maxBytesIn?: number
    maxBytesOut?: number
    /** Every budget that counts this call, as it stands now. */
    accounts: readonly BudgetState[]
  }
  /** What will be done to the result: redaction, size caps. */
  obligations: readonly string[]
  /** Digest of the policy that says all this. */
  policyDigest: string
}

/** What one principal could do with one tool right now. */
export interface AvailableTool {
  /** Canonical name. */
  tool: string
  version: string
  /** Digest of the definition. */
  definition: string
  /** Which providers and models it works with. */
  compatibility: Compatibility
  state: ToolState
  /** What is known of the tool alone: what a call reaches may still have it asked for, let through or denied. */
  effect: Effect
  /** Why the effect is `deny`. */
  error?: CallError
  /** Digest of the profile: grant ∩ manifest ∩ policy. */
  profileHash: string
  limits: Required<Limits>
  /** Every budget that counts its calls, as it stands now. */
  budgets: readonly BudgetState[]
}

/** Manifest ∩ policy ∩ quota ∩ state, for every tool that a tenant has. It is as of now: ask again after a change. */
export interface AvailableSpec {
  policyDigest: string
  policyVersion: number
  /** Another value as soon as tools, or where they stand, changed. */
  registryVersion: number
  /** In canonical order. */
  tools: AvailableTool[]
}

/** How an agent runs. Unknown fields are refused. */
export interface RunOptions extends RunTask {
  /** An open session, which stays open; or how to open one, which is closed with the run. Default: a new one of the role `main`. */
  session?: Session | SessionOptions
}

/** What may change while a runtime lives. What is absent stays as it is. */
export interface PolicyChange {
  policy?: Policy
  projectConfiguration?: ProjectConfiguration
  limits?: RuntimeLimits
  allowedTools?: readonly string[]
  disallowedTools?: readonly string[]
  sensitivePaths?: readonly string[]
}

/** Which calls that can be taken back are listed. */
export interface UndoableQuery {
  /** Default `local`. */
  tenant?: string
  /** Id of a session. Default: of all. */
  session?: string
  /** Milliseconds since the epoch. Default: from the first on. */
  since?: number
}

/** Everything a process needs to run tools. Made by `createRuntime`, ended by `close`. */
export interface Runtime {
  /** Absolute path of the project root. */
  readonly project: string
  readonly registry: Registry
  readonly store: Store
  readonly artifacts: ArtifactStore
  /** What holds on this machine, in words. */
  readonly sandbox: string
  readonly policyDigest: string
  /** Counts up with each change of the policy; the first is 1. */
  readonly policyVersion: number
  session(options?: SessionOptions): Session
  /**
   * Adds or updates tools while the runtime lives; sessions opened later see them. With any issue of tools of the program itself it throws a
   * SetupError, and nothing is registered. Every change is noted in the evidence.
   */
  register(tools: readonly (Tool | ToolSource)[], options?: RegisterOptions): Promise<void>
  /** Takes tools away; sessions that have them keep them. Throws a SetupError for an unknown one. */
  remove(names: readonly string[], options?: RemoveOptions): Promise<void>
  /**
   * Enables, pauses or deprecates a tool, for all tenants or for one; it holds from the next call on, in every process on the same
   * store. Throws a SetupError where a tool cannot go to that state.
   */
  setToolState(name: string, state: 'enabled' | 'paused' | 'deprecated', change: StateChange): Promise<void>
  /** Lets a definition be used that changed at its source. Throws a SetupError where this very one does not wait. */
  approveDefinition(name: string, approval: DefinitionApproval): Promise<void>
  /**
   * Resolves when every server that is seen for the first time has shown its tools, or turned out not to answer; at the latest after
   * `withinMs`, by default 10 seconds.
   */
  settled(withinMs?: number): Promise<void>
  on(listener: (event: RuntimeEvent) => void): () => void
  /** Standing consents: given, revoked and listed. */
  readonly consents: Consents
  /** The emergency stop: what is paused, what runs, and ending that, for all processes on the same store. */
  readonly stops: Stops
  /** What waits for a person: listed, answered and watched, for all processes on the same store. */
  readonly approvals: PendingApprovals
  /**
   * Lets a language model work with the tools of a session: asks it, runs its calls, and again, until it answers without one. Rejects with a SetupError
   * if the options cannot be used, or the provider does not take a tool; whatever happens after that is the `result` of the run.
   */
  run(options: RunOptions): Promise<AgentRun>
  /** The runs in the store, of all processes on it. */
  readonly runs: AgentRuns
  /** The tasks of agents in the store, and where their steps stand. */
  readonly tasks: AgentTasks
  /** The schedules in the store, and what runs them. */
  readonly schedules: RuntimeSchedules
  /** What was kept for later sessions. */
  readonly memory: RuntimeMemory
  /**
   * Puts another policy, other limits or other tool lists in force: for every call that starts from now on, in every session; a call
   * that runs keeps what it started with. With any issue it throws a SetupError, and the old ones stay in force. Both is noted
   * in the evidence.
   */
  reload(change: PolicyChange): Promise<void>
  /**
   * Aborts a call that runs, in whatever session and process on the store, by Handrail's id; of one tenant, if it is named. The reason is told to the model.
   * Resolves with false if none runs, else when a note in the evidence says who did it. If that cannot be written it rejects, and the call is aborted all
   * the same.
   */
  abort(call: string, about: { by: string; reason?: string; tenant?: string }): Promise<boolean>
  /**
   * The calls that changed files, are kept for undo, and were not taken back; the newest first. The tool `code.undo` takes them back. None if nothing
   * is kept.
   */
  undoable(query?: UndoableQuery): Promise<readonly PastCall[]>
  /**
   * Takes what a service posts to the callback of a job, signed as Standard Webhooks has it: a fetch `Request` and `Response`, for whatever HTTP server the
   * program has. Never rejects for what came in.
   */
  receiveCallback(request: Request): Promise<Response>
  /** Aborts what runs, disposes every tool, makes all evidence durable. */
  close(): Promise<void>
}
