import type { AgentModel, AgentRun, AgentRuns, ModelPrice } from '../../contract/agent-run.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { modesByReach, type Mode } from '../../contract/base/principal.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { ScheduleRun } from '../../contract/services/schedules.ts'
import type { StepResult } from '../../contract/pending-approval.ts'
import type { RunOptions, Session, SessionOptions } from '../../contract/runtime.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { StoredRun, StoredSchedule } from './stored.ts'

/** What runs of schedules stand on. */
export interface RunMaker {
  openSession(options: SessionOptions): Session
  /** The mode in which the policy of the tenant opens sessions. */
  defaultMode(tenant: string): Mode
  /** What the tenant has under this name now: its definition, and what names it and what it comes from. */
  findTool(tool: string, tenant: string): { definition: ToolDefinition; identity: string } | undefined
  /** Starts the run of an agent under this id, or goes on with it. */
  startAgent(options: RunOptions, id: string): Promise<AgentRun>
  readonly agentRuns: AgentRuns
  /** What agents of schedules work with; undefined if the operator set none. */
  readonly model: AgentModel | undefined
  readonly price: ModelPrice | undefined
  /** Takes secrets out. */
  readonly redact: (text: string) => string
}

/** What has become of a run. */
export type RunProgress = Pick<StoredRun, 'state' | 'waits'> &
  Partial<Pick<StoredRun, 'summary' | 'error' | 'step'>>

interface Making {
  readonly schedule: StoredSchedule
  readonly run: StoredRun
  readonly maker: RunMaker
  readonly signal: AbortSignal
}

const longestSummary = 300

/**
 * Makes a run, or goes on with it: of a call that was begun before, also by a process that is gone, the result is what became of it, and nothing is done
 * twice.
 */
export async function makeRun(making: Making): Promise<RunProgress> {
  try {
    const { work } = making.schedule
    return 'tool' in work ? await makeCall(work, making) : await letAgentWork(work.prompt, making)
  } catch (error) {
    if (!(error instanceof SetupError) || error.code === 'run_in_progress' || error.code === 'closed')
      throw error
    return failed({ code: 'TOOL.FAILED', reason: error.code, message: making.maker.redact(error.message) })
  }
}

async function makeCall(
  { tool, input }: Extract<StoredSchedule['work'], { tool: string }>,
  { schedule, run, maker, signal }: Making,
): Promise<RunProgress> {
  const session = maker.openSession(sessionOf(schedule, run, maker))
  let isOver = false
  try {
    const found = maker.findTool(tool, schedule.tenant)
    // A tool that is gone is told by the call.
    if (found !== undefined && found.identity !== schedule.identity) {
      isOver = true
      return failed({
        code: 'TOOL.FAILED',
        reason: 'tool_changed',
        message: `"${tool}" is not the tool any more that the schedule was made for: its definition or where it comes from is another one. Delete the schedule, and make it anew.`,
      })
    }
    const { idempotency = 'none', keyFrom = 'call' } = found?.definition ?? {}
    const takesKey = idempotency !== 'none' && keyFrom === 'call'
    // A long tool has done its work when its job has ended: the session is closed after that.
    const call = { id: run.id, tool, input, follow: true, ...(takesKey && { idempotencyKey: run.id }) }
    const step =
      run.step === undefined
        ? await session.step([call], { origin: 'system', once: true, signal })
        : await session.resume(run.step, { signal })
    const progress = toProgress(step, maker)
    isOver = progress.state !== 'waiting'
    return progress
  } finally {
    await session.close({ forget: isOver })
  }
}

function toProgress(step: StepResult, { redact }: RunMaker): RunProgress {
  const [result] = step.results
  if (result === undefined)
    return { state: 'waiting', waits: step.waiting.map(({ approval }) => approval.id), step }
  if (result.error !== undefined) return failed(shortError(result.error))
  return { state: result.ok ? 'ok' : 'failed', waits: [], summary: shorten(redact(result.summary)) }
}

async function letAgentWork(prompt: string, { schedule, run, maker, signal }: Making): Promise<RunProgress> {
  const { model, price, agentRuns, redact } = maker
  if (model === undefined)
    return failed({
      code: 'TOOL.FAILED',
      reason: 'no_model',
      message:
        'The process that runs schedules has no model for agents. Set "agents.model", or start handrail serve with --model.',
    })
  const before = agentRuns.find(run.id, schedule.tenant)
  const isOver = before?.endReason !== undefined && !resumable.includes(before.endReason)
  if (before !== undefined && isOver)
    return before.endReason === 'completed'
      ? { state: 'ok', waits: [], summary: 'The agent has completed its task.' }
      : failed({ code: 'TOOL.FAILED', reason: before.endReason ?? '', message: before.error?.message ?? '' })
  const task = before === undefined ? { prompt } : { resume: run.id }
  const agent = await maker.startAgent(
    {
      ...task,
      model,
      ...(price !== undefined && { price }),
      signal,
      session: sessionOf(schedule, run, maker),
    },
    run.id,
  )
  const { endReason, text, error, waiting } = await agent.result
  if (endReason === 'completed') return { state: 'ok', waits: [], summary: shorten(redact(text)) }
  if (endReason === 'approval_pending') return { state: 'waiting', waits: waiting.map(({ id }) => id) }
  // The process ends: the next one goes on with it.
  if (signal.aborted && resumable.includes(endReason)) return { state: 'running', waits: [] }
  return failed(
    error === undefined
      ? {
          code: 'TOOL.FAILED',
          reason: endReason,
          message: `The agent did not complete its task: ${endReason}.`,
        }
      : shortError(error),
  )
}

/** How runs of agents end that go on, as their process ended or a person was asked. */
const resumable: readonly string[] = ['aborted', 'aborted_tools', 'approval_pending']

/** As its author, with what they had at most, and no more than they have now. */
function sessionOf(schedule: StoredSchedule, { id }: StoredRun, maker: RunMaker): SessionOptions {
  const { tenant, actor, role, tools, standingConsents } = schedule
  const mode = lesser(schedule.mode, maker.defaultMode(tenant))
  return {
    id,
    tenant,
    actor,
    role,
    mode,
    standingConsents,
    agent: { agentId: schedule.id, runId: id },
    allowedTools: tools,
    // Otherwise a schedule could make others without end. An empty list of tools would let all through.
    disallowedTools: tools.length === 0 ? ['*'] : ['cron.create'],
  }
}

function lesser(one: Mode, other: Mode): Mode {
  return modesByReach.indexOf(one) < modesByReach.indexOf(other) ? one : other
}

function failed(error: NonNullable<ScheduleRun['error']>): RunProgress {
  return { state: 'failed', waits: [], error }
}

function shortError({
  code,
  reason,
  message,
}: NonNullable<ToolResult['error']>): NonNullable<ScheduleRun['error']> {
  return { code, reason, message: shorten(message) }
}

function shorten(text: string): string {
  return text.length <= longestSummary ? text : `${text.slice(0, longestSummary)}…`
}
