import type { Json, JsonObject } from '../base/json.ts'
import type { JsonSchema } from '../base/schema.ts'

/** The job that a call of a long tool starts. */
export interface StartedJob {
  /** The same for the same work, also after a restart: what is begun elsewhere can be known by it. */
  readonly job: string
  /** Where the service that does the work can say that there is news; undefined if the host serves no callbacks. */
  readonly callback: JobCallback | undefined
}

/** Where a callback is posted, and the secret that signs it, as Standard Webhooks has both. */
export interface JobCallback {
  readonly url: string
  /** `whsec_` and Base64. */
  readonly secret: string
}

/** A job that is asked how it is. */
export interface AskedJob {
  readonly job: string
  /** The input of the call that started it, as the evidence has it: without secrets. */
  readonly input: JsonObject
  /** What `start`, `find` or the last `poll` left. */
  readonly state: Json
  /** What was posted to its callback since it was asked last, the oldest first, without secrets. */
  readonly callbacks: readonly Json[]
}

/** How a job is. */
export type JobNews =
  /** `state` takes the place of the one before; `progress` is a line for those who look at the job. */
  | { readonly status: 'running'; readonly state?: Json; readonly progress?: string }
  /** `result`: what any tool may return. */
  | { readonly status: 'completed'; readonly result?: unknown }
  | { readonly status: 'failed'; readonly message: string }

/** How a tool works that goes on after its call has answered. Each of these runs as a part of that call. */
export interface LongTool<Context> {
  /** How often a job is asked, in milliseconds. */
  readonly everyMs: number
  /** How long a job may take. Undefined: as long as it does. */
  readonly longestMs: number | undefined
  /** Whether its jobs outlast their process, and are asked again in the next one. */
  readonly survives: boolean
  /** What the data of its result has to fit. */
  readonly outputSchema: JsonSchema | undefined
  /** One line: what a job does. */
  title(input: unknown): string
  /** Begins the work, and returns what it is known by. */
  start(input: unknown, context: Context, started: StartedJob): Json | Promise<Json>
  /** What work is known by whose start was cut off; undefined if it did not begin. */
  find?(
    job: Omit<AskedJob, 'state' | 'callbacks'>,
    context: Context,
  ): Json | undefined | Promise<Json | undefined>
  poll(job: AskedJob, context: Context): JobNews | Promise<JobNews>
  /** Ends the work. */
  stop?(job: AskedJob & { readonly reason: string }, context: Context): void | Promise<void>
}
