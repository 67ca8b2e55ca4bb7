import type { Json, JsonObject } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { AskedJob, JobNews, LongTool, StartedJob } from '../contract/services/long-tool.ts'
import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { Tool, ToolContext, ToolReturn } from '../contract/tool/tool.ts'
import { findNoFunctions } from '../kit/json/find-wrong-kinds.ts'
import { toolOutput } from '../kit/result/tool-output.ts'
import { assembleTool } from './assemble-tool.ts'
import { describeSchema, type InferInput, type InputSchema } from './describe-schema.ts'
import { refuseFaulty, refuseUnknownSpec, type ManifestSpec } from './to-definition.ts'
import type { ContextWith, ServiceName } from './tool-spec.ts'

/** How a job is, with what it returns in the end. */
export type News<State extends Json = Json> =
  | { readonly status: 'running'; readonly state?: State; readonly progress?: string }
  | { readonly status: 'completed'; readonly result?: ToolReturn }
  | { readonly status: 'failed'; readonly message: string }

/** A job that is asked, with the state that `start` returned or the last `poll` left. */
export type Asked<State extends Json> = AskedJob & { readonly state: State }

/** A tool whose calls start jobs. Unknown fields are refused. */
export interface LongSpec<
  Schema extends InputSchema,
  Needs extends ServiceName,
  State extends Json,
> extends ManifestSpec {
  /** A JSON Schema, or any Standard Schema that emits JSON Schema. Default: no input. */
  input?: Schema
  /** What the data of the result of a job has to fit. */
  output?: InputSchema
  /** Services that must be there; they are then in the context. */
  needs?: readonly Needs[]
  /** How often a job is asked, in milliseconds. Default 5,000. */
  everyMs?: number
  /** How long a job may take, in milliseconds. Default: as long as it does. */
  longestMs?: number
  /**
   * Whether jobs outlast their process and the close of a session that has an id of its own: the next process that opens the session asks them again.
   * Default false: they end with their session, as `interrupted`.
   */
  survives?: boolean
  /** One line that says what a job does. Default: the title of the tool. */
  jobTitle?: (input: InferInput<Schema>) => string
  plan?: (input: InferInput<Schema>, context: PlanContext) => Plan | Promise<Plan>
  /** Begins the work, and returns what it is known by: JSON without secrets. The id of the job is the same after a restart. */
  start: (
    input: InferInput<Schema>,
    context: ContextWith<Needs>,
    started: StartedJob,
  ) => State | Promise<State>
  /** Says what work is known by whose start was cut off by the end of its process; undefined if it did not begin. */
  find?: (
    job: Pick<AskedJob, 'job' | 'input'>,
    context: ContextWith<Needs>,
  ) => State | undefined | Promise<State | undefined>
  /** Says how the work is. It may be asked again what it has answered. */
  poll: (
    job: Asked<NoInfer<State>>,
    context: ContextWith<Needs>,
  ) => News<NoInfer<State>> | Promise<News<NoInfer<State>>>
  /** Ends the work: `job.stop`, a session that is closed, a time that is over. */
  stop?: (
    job: Asked<NoInfer<State>> & { readonly reason: string },
    context: ContextWith<Needs>,
  ) => void | Promise<void>
}

/**
 * Makes a tool whose calls answer with a job, which is asked until its work is done.
 *
 * @example
 * const build = defineLongTool({
 *   name: 'ci.build',
 *   description: 'Builds a branch.',
 *   input: z.object({ branch: z.string() }),
 *   survives: true,
 *   start: async ({ branch }, _, { job }) => ({ build: await ci.start(branch, { key: job }) }),
 *   async poll({ state }) {
 *     const { done, log } = await ci.look(state.build)
 *     return done ? { status: 'completed', result: { log } } : { status: 'running' }
 *   },
 * })
 */
export function defineLongTool<
  const Schema extends InputSchema = { type: 'object'; properties: {} },
  const Needs extends ServiceName = never,
  State extends Json = Json,
>(spec: LongSpec<Schema, Needs, State>): Tool {
  const { everyMs = 5_000, longestMs, survives = false } = spec
  refuseUnknownSpec(spec, ownFields)
  refuseFaulty(spec, [
    ...(['start', 'poll'] as const).flatMap((name) => findMissing(name, spec)),
    ...findNoFunctions(spec, ['start', 'poll', 'find', 'stop', 'plan', 'jobTitle']),
    ...findNoTimes({ everyMs, longestMs }),
  ])
  const output = spec.output === undefined ? undefined : describeSchema(spec.output)
  const {
    start,
    poll,
    find,
    stop,
    jobTitle,
    everyMs: _e,
    longestMs: _l,
    survives: _s,
    output: _o,
    ...rest
  } = spec
  // The types of the spec tie these to each other; the pipeline hands them what passed it.
  const given = { start, poll, find, stop, jobTitle } as unknown as Functions
  const long: LongTool<ToolContext> = {
    everyMs,
    longestMs,
    survives,
    outputSchema: output?.schema,
    title: (input) => given.jobTitle?.(input) ?? spec.title ?? spec.description,
    start: (input, context, started) => given.start(input, context, started),
    async poll(job, context) {
      const news = await given.poll(job, context)
      if (news.status === 'completed') output?.parse?.(news.result)
      return news
    },
    ...(find !== undefined && { find: (job, context) => given.find?.(job, context) }),
    ...(stop !== undefined && { stop: (job, context) => given.stop?.(job, context) }),
  }
  const tool = assembleTool({
    ...rest,
    needs: [...new Set<ServiceName>([...(spec.needs ?? []), 'jobs'])],
    ...(output?.schema.type === 'object' && {
      output: { type: 'object', anyOf: [startedSchema, output.schema] } as JsonSchema,
    }),
    ...(spec.input === undefined && { input: { type: 'object', properties: {} } as const }),
    run: (async (input: unknown, context: ToolContext) => answer(input, context, long)) as never,
  })
  return { ...tool, long }
}

interface Functions {
  start(input: unknown, context: ToolContext, started: StartedJob): Json | Promise<Json>
  poll(job: AskedJob, context: ToolContext): JobNews | Promise<JobNews>
  find?(
    job: Pick<AskedJob, 'job' | 'input'>,
    context: ToolContext,
  ): Json | undefined | Promise<Json | undefined>
  stop?(job: AskedJob & { reason: string }, context: ToolContext): void | Promise<void>
  jobTitle?(input: unknown): string
}

/** What a call of a long tool returns that is not followed. */
const startedSchema = {
  type: 'object',
  properties: {
    job: {
      type: 'string',
      description: 'Its id: job.output waits for it and returns its result, job.stop ends it.',
    },
    status: { type: 'string', enum: ['running'] },
  },
  required: ['job', 'status'],
  additionalProperties: false,
} as const

async function answer(input: unknown, context: ToolContext, long: LongTool<ToolContext>) {
  const { jobs } = context
  if (jobs === undefined) throw new Error('A long tool needs the service "jobs".')
  const { id } = await jobs.begin((started) => long.start(input, context, started))
  const data: JsonObject = { job: id, status: 'running' }
  return toolOutput({
    content: `It runs as the job "${id}": job.output waits for it and returns its result, job.stop ends it.`,
    data,
    summary: `job ${id}`,
    metadata: { job: id },
  })
}

function findMissing(name: 'start' | 'poll', spec: object) {
  if (Reflect.get(spec, name) !== undefined) return []
  return [
    {
      pointer: `/${name}`,
      code: 'missing_field',
      message: `The field "${name}" is missing; give a function.`,
    },
  ]
}

function findNoTimes(times: { everyMs: number; longestMs: number | undefined }) {
  return Object.entries(times).flatMap(([name, ms]) =>
    ms === undefined || (Number.isSafeInteger(ms) && ms >= 1)
      ? []
      : [
          {
            pointer: `/${name}`,
            code: 'invalid_limit',
            message: `${String(ms)} is not a time; use whole milliseconds from 1 on.`,
          },
        ],
  )
}

const ownFields = [
  'input',
  'output',
  'needs',
  'everyMs',
  'longestMs',
  'survives',
  'jobTitle',
  'plan',
  'start',
  'find',
  'poll',
  'stop',
] as const
