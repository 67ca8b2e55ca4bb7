import type { Job } from './services/job.ts'
import type { Presentation } from './base/call.ts'
import type { CallError } from './base/errors.ts'
import type { Json } from './base/json.ts'
import type { JsonSchema } from './base/schema.ts'
import type { ToolResult } from './base/result.ts'
import type { PendingApproval } from './pending-approval.ts'

/**
 * A language model of the AI SDK (`LanguageModelV2` to `LanguageModelV4` of `@ai-sdk/provider`), such as `openai('gpt-5')` of `@ai-sdk/openai`: what
 * an agent run uses of it.
 */
export interface AgentModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/** What a million tokens cost, in the unit of the operator's budgets. */
export interface ModelPrice {
  input: number
  output: number
  /** Of input that the provider had cached. Default: as `input`. */
  cachedInput?: number
}

/** What an agent is to do, and with what. */
export interface RunTask {
  model: AgentModel
  /** What the user asks. Needed, unless the run goes on. */
  prompt?: string
  /** Id of a run that ended before its task did, such as with `approval_pending`: it goes on where it stood, and repeats no call. */
  resume?: string
  /** How the agent works; it stands before everything else. Default: a short text of Handrail's own. */
  system?: string
  /** Texts of the project, such as its AGENTS.md. They are shown as what third parties wrote; those that calls read come to them. */
  instructions?: readonly string[]
  /** Answers of the model at most. Default 50. */
  maxTurns?: number
  /**
   * Whether the run waits as long as a call waits for a person, wherever the answer comes from. If not, it ends with `approval_pending`, and goes on
   * with `resume`. Default false.
   */
  wait?: boolean
  /** Under which names the model sees tools. Default `canonical`. */
  presentation?: Presentation
  /** Tokens that the model takes at most. The conversation is summarised at four fifths of it. Default 128,000. */
  contextTokens?: number
  /** Tokens of one answer at most. Default: what the provider has. */
  maxOutputTokens?: number
  temperature?: number
  /** Handed to the provider as it is (`providerOptions` of the AI SDK). */
  providerOptions?: { readonly [provider: string]: { readonly [option: string]: Json } }
  /** Default: what tokens cost is not counted. */
  price?: ModelPrice
  /** The last answer has to be JSON of this schema; a wrong one is handed back to the model, twice at most. */
  output?: JsonSchema
  signal?: AbortSignal
}

/** Why a run ended. */
export type RunEndReason =
  /** The model answered without a call. */
  | 'completed'
  | 'max_turns'
  /** While the model answered, or between two steps. */
  | 'aborted'
  /** While its calls ran. */
  | 'aborted_tools'
  /** A call waits for a person. The run can go on. */
  | 'approval_pending'
  /** A budget of tokens or money, or of the calls that a session may make, is used up. */
  | 'budget_exceeded'
  /** `error` says why. */
  | 'failed'

/** Tokens of one answer, or of all of a run. */
export interface RunUsage {
  readonly inputTokens: number
  /** As far as the provider tells. */
  readonly cachedInputTokens: number
  readonly outputTokens: number
  /** In the unit of `price`; absent without a price. */
  readonly cost?: number
}

/** What became of a run. Plain JSON. */
export interface RunResult {
  readonly id: string
  readonly session: string
  readonly endReason: RunEndReason
  /** The last text of the model; empty if it wrote none. */
  readonly text: string
  /** The last answer as JSON, of a run with an `output`. */
  readonly output?: Json
  /** Answers of the model. */
  readonly turns: number
  readonly usage: RunUsage
  /** What waits for a person, if the run ended for it. */
  readonly waiting: readonly PendingApproval[]
  /**
   * Jobs that the session had under way when the run ended; absent without one. They end with their session, and so with a run that opened it, but for those
   * whose tool survives that. An agent goes on when the run does.
   */
  readonly atWork?: readonly RunJob[]
  readonly error?: CallError
}

/** A job as the end of a run tells of it. */
export type RunJob = Pick<Job, 'id' | 'kind' | 'title'>

/** What happens in a run, as it happens. */
export type RunEvent =
  | {
      readonly type: 'run_started'
      readonly run: string
      readonly session: string
      readonly resumed: boolean
    }
  | { readonly type: 'turn_started'; readonly turn: number }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** The model has made a call: its name for the tool, and the JSON text of the input. */
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly input: string }
  | { readonly type: 'call_ended'; readonly id: string; readonly result: ToolResult }
  | { readonly type: 'approval_waiting'; readonly id: string; readonly approval: PendingApproval }
  | { readonly type: 'turn_ended'; readonly turn: number; readonly usage: RunUsage }
  /** Messages of other agents stand in the conversation from now on. */
  | { readonly type: 'messages'; readonly messages: readonly AgentMessage[] }
  /** The conversation was summarised, as it filled the window of the model. */
  | { readonly type: 'compacted' }
  | { readonly type: 'run_ended'; readonly result: RunResult }

/** A run under way. It goes on whether or not its events are read; those before the first read are not kept. */
export interface AgentRun extends AsyncIterable<RunEvent> {
  readonly id: string
  /** Resolves when the run has ended, however it ended, and that is durable. Rejects only if the store cannot be written; the run can be resumed then. */
  readonly result: Promise<RunResult>
  /** Ends it, with the calls that run. */
  abort(reason?: string): void
}

/** What an agent of a team wrote to another one. */
export interface AgentMessage {
  /** Names of the team, and of the member that wrote it. */
  readonly team: string
  readonly from: string
  /** Id of the agent that wrote it. */
  readonly agent: string
  readonly text: string
}

/** One piece of a conversation, as it is kept. A later one never changes an earlier one. */
export type TranscriptNode = {
  readonly id: string
  /** Milliseconds since the epoch. */ readonly at: number
} & (
  | { readonly type: 'user'; readonly text: string }
  | {
      readonly type: 'assistant'
      /** Parts in the form of the AI SDK. */
      readonly content: readonly Json[]
      readonly finishReason: string
      readonly usage: RunUsage
    }
  /** What went back for the calls of the answer before, in the form of the AI SDK; and Handrail's ids of these calls. */
  | { readonly type: 'tool'; readonly content: readonly Json[]; readonly calls: readonly string[] }
  /** What a file such as AGENTS.md says, that a call of the step before has read: it stands in the system prompt from then on. */
  | { readonly type: 'instructions'; readonly path: string; readonly scope: string; readonly text: string }
  /** What other agents of its teams wrote to it. `text` is that as the model sees it: marked as data of other agents. */
  | { readonly type: 'messages'; readonly messages: readonly AgentMessage[]; readonly text: string }
  /** Stands for all before it, but for what the user said first, and what the user and other agents said last if that was not answered. */
  | { readonly type: 'summary'; readonly text: string; readonly usage: RunUsage }
)

/** A run as it is kept. */
export interface StoredRun {
  readonly id: string
  readonly tenant: string
  readonly actor: string
  readonly session: string
  /** Absolute path of the project in which it works. */
  readonly project?: string
  readonly model: { readonly provider: string; readonly modelId: string }
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly state: 'running' | 'ended'
  readonly turns: number
  readonly usage: RunUsage
  /** Absent while it runs, and of one whose process was ended. */
  readonly endReason?: RunEndReason
  readonly endedAt?: number
  readonly error?: CallError
  /** Of a run that a call started: that call, its session, and its run if it is of one. */
  readonly parent?: { readonly session: string; readonly toolCallId: string; readonly run?: string }
  /** Id of the definition of its agent. */
  readonly definition?: string
  /** When its conversation was pruned, in milliseconds since the epoch. It cannot go on then. */
  readonly prunedAt?: number
}

/** The runs of agents in a store. */
export interface AgentRuns {
  /** The newest first; of one tenant. */
  list(query?: { tenant?: string; limit?: number }): readonly StoredRun[]
  find(id: string, tenant?: string): StoredRun | undefined
  /** The conversation so far, the oldest first. Throws a SetupError for an unknown run. */
  transcript(id: string, tenant?: string): readonly TranscriptNode[]
}
