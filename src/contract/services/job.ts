import type { Json } from '../base/json.ts'
import type { Artifact } from '../base/result.ts'
import type { StartedJob } from './long-tool.ts'
import type { CommandNetwork, Commands } from './sandbox.ts'

/** A command, an agent or the work of a long tool that goes on after its call has answered. It ends with its session at the latest, unless its tool survives that. */
export interface Job {
  /** Of an agent, that of its run. */
  readonly id: string
  readonly kind: 'command' | 'agent' | 'tool'
  /** The call that started it, and the tool of that call. */
  readonly call: string
  readonly tool: string
  /** One line: what it runs, or does. */
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Bytes of its output so far. */
  readonly bytes: number
  /** Absent while it runs. */
  readonly end?: JobEnd
}

/** How a job ended. */
export interface JobEnd {
  /**
   * `completed`: an agent or tool did its task. `failed`: a command could not be followed to its end, or an agent or tool did not reach its own.
   * `interrupted`: its process or session ended. An agent goes on when the run does whose call started it.
   */
  readonly how: 'exit' | 'completed' | 'timeout' | 'stopped' | 'failed' | 'interrupted'
  /** Null if there was none, such as after a signal. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** Why it was stopped or failed. */
  readonly reason?: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** All of its output, where that is more than is kept at hand. */
  readonly artifact?: Artifact
  /** Processes that may still run. */
  readonly survivors: readonly number[]
  /** What it asked of the network, where it could. */
  readonly network?: CommandNetwork
  /** What is to be known of the places that were kept from it, each a sentence or two. */
  readonly notes?: readonly string[]
}

/** Some of a job's output: what it wrote to stdout and stderr, line by line as it came; of an agent, what it said. */
export interface JobOutput {
  readonly text: string
  /** Where the text begins, in bytes of the whole. After the asked offset where what stood there is no longer at hand. */
  readonly offset: number
  /** The offset that goes on from here. */
  readonly nextOffset: number
}

/**
 * The jobs of one session. No other session sees them. An id that is none of theirs fails as a `ToolFailure` with `unknown_job`. Agents are started
 * by the service `agents`.
 */
export interface Jobs {
  /** Resolves when the program runs. Rejects where it cannot be started, where too many run, and where a budget would not see what it spends. */
  start(command: JobCommand): Promise<Job>
  /** Begins the work of the long tool whose call this is. */
  begin(start: (started: StartedJob) => Json | Promise<Json>): Promise<Job>
  /** The oldest first. Of commands that ended only the last ones are kept. */
  list(): readonly Job[]
  find(id: string): Job
  read(id: string, options: { offset: number; maxBytes: number }): JobOutput
  /** Resolves when the job has ended, or after this time. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** Ends its whole tree: processes, calls, and agents that it started. A job that has ended stays as it is. */
  stop(id: string, reason: string): Promise<Job>
}

/** What a job runs. */
export interface JobCommand extends Pick<
  Parameters<Commands['run']>[0],
  'executable' | 'argv' | 'cwd' | 'env'
> {
  readonly title: string
  /** Default: as long as its session. */
  readonly timeoutMs?: number | undefined
}
