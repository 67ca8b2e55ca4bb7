import type { StartingCall } from '../../contract/agent-host.ts'
import type { AgentRun } from '../../contract/agent-run.ts'
import type { RegisteredAgentDefinition } from '../../contract/services/agent-definition.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { StepScope } from '../../contract/services/tasks.ts'
import { openRun } from '../loop/open-run.ts'
import type { BackgroundCall, KeptRun, RunParent } from '../loop/run-book.ts'
import type { OpenRun } from '../loop/run-state.ts'
import type { JoinedTeam } from '../teams/create-team-book.ts'
import { toTitle } from './background.ts'
import type { ChildPorts, PricedModel } from './child-ports.ts'
import { childSession, childTask, least } from './child-options.ts'
import { childPrompt } from './child-prompt.ts'
import { findModel } from './choose.ts'
import type { ResumedAt } from './find-child-place.ts'
import { goOn } from './go-on.ts'
import { openWorktree, worktreeName } from './worktree.ts'

/** An agent that a call wants. */
export interface Start {
  readonly call: StartingCall
  readonly ports: ChildPorts
  readonly id: string
  /** What it did before, if it was cut off or waits. */
  readonly before: KeptRun | undefined
  /** What it did, if it has ended, and its call was cut off. */
  readonly ended?: KeptRun | undefined
  readonly definition: RegisteredAgentDefinition | undefined
  /** The team that it has joined. */
  readonly joined?: JoinedTeam | undefined
  /** Of a worker: its id, and the steps that it may claim. */
  readonly worker?: { readonly id: string; readonly claims: StepScope } | undefined
}

/** An agent that can be started. */
export interface PreparedChild {
  readonly isolated: boolean
  /** What its job is called, if it runs on after its call. */
  readonly background: BackgroundCall | undefined
  /** Starts it. It ends when the signal is aborted. */
  start(signal: AbortSignal): Promise<AgentRun>
}

/** Checks what an agent needs. Fails if it lacks something; nothing is started yet. */
export function prepareChild(wish: ChildWish, start: Start): PreparedChild {
  const { call, ports, definition, before } = start
  const parentRun = ports.runOf(call.session)
  const model = findModel(wish.model, { definition, parentRun, ports })
  const nodes = wish.kind === 'fork' && before === undefined ? conversationOf(parentRun) : []
  const isolated = (wish.isolation ?? definition?.isolation) === 'worktree'
  const timeoutMs = least(wish.timeoutMs, definition?.limits?.timeoutMs)
  const background = wish.background === true ? toBackground(wish, { call, timeoutMs }) : undefined
  const about: About = { ...model, parentRun, nodes, isolated, background, timeoutMs }
  return { isolated, background, start: (signal) => startChild(wish, start, { ...about, signal }) }
}

/** Checks what an agent needs that goes on because a call asks for that. Nothing is started yet. */
export function prepareResumed(wish: ChildWish, start: Start, { before, isTold }: ResumedAt): PreparedChild {
  const { call, ports, definition, joined } = start
  const { session, toolCallId, waits } = call
  const { parent, settings } = before
  const timeoutMs = least(wish.timeoutMs, definition?.limits?.timeoutMs)
  const model = wish.model ?? parent.wish?.model
  const background =
    wish.background === true ? toBackground({ ...wish, model }, { call, timeoutMs }) : undefined
  const { run: _run, background: _background, ...was } = parent
  const parentRun = ports.runOf(session)
  const now: RunParent = {
    ...was,
    toolCallId,
    ...(parentRun !== undefined && { run: parentRun.id }),
    ...(background !== undefined && { background }),
  }
  return {
    isolated: parent.worktree !== undefined,
    background,
    start: (signal) =>
      goOn({
        run: { id: before.id, parent: now },
        session,
        ports,
        model,
        signal: withinTime(signal, timeoutMs),
        waits: background !== undefined || waits,
        maxTurns: least(wish.maxTurns, definition?.limits?.maxTurns),
        ...(isTold && { prompt: childPrompt({ ...wish, output: settings.output }, joined) }),
      }),
  }
}

interface About extends PricedModel {
  readonly parentRun: OpenRun | undefined
  readonly nodes: OpenRun['nodes']
  readonly isolated: boolean
  readonly background: BackgroundCall | undefined
  readonly timeoutMs: number | undefined
}

async function startChild(
  wish: ChildWish,
  start: Start,
  about: About & { signal: AbortSignal },
): Promise<AgentRun> {
  const { call, ports, id, before, definition, joined, worker } = start
  const { model, price, parentRun, nodes, isolated, background, timeoutMs } = about
  const ground = { definition, parent: call.session, settings: parentRun?.kept.settings }
  const how = childTask(wish, ground)
  const signal = withinTime(about.signal, timeoutMs)
  const { session, toolCallId, waits } = call
  const worktree = isolated
    ? await openWorktree({ session, toolCallId, waits, signal, agent: id }, ports)
    : undefined
  const parent = {
    session: session.id,
    toolCallId,
    ...(parentRun !== undefined && { run: parentRun.id }),
    ...(wish.definition !== undefined && { definition: wish.definition }),
    wish: withoutTask(wish),
    ...(background !== undefined && { background }),
    ...(isolated && { worktree: worktreeName(id) }),
  }
  const prompt = childPrompt({ ...wish, output: how.output }, joined)
  const task = before === undefined ? { prompt } : { resume: id }
  return openRun(
    {
      ...how,
      ...task,
      model,
      ...(price !== undefined && { price }),
      session: {
        ...childSession(wish, ground),
        parent: session,
        agent: { agentId: worker?.id ?? definition?.id ?? wish.kind, runId: id },
        ...(worker !== undefined && { claims: worker.claims }),
      },
      signal,
      wait: background !== undefined || waits,
    },
    ports,
    { id, parent, definition, nodes, worktree: worktree?.path },
  )
}

/** The signal, or a time limit. */
export function withinTime(signal: AbortSignal, timeoutMs: number | undefined): AbortSignal {
  return timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
}

function toBackground(
  { task, model }: ChildWish,
  { call, timeoutMs }: { call: StartingCall; timeoutMs: number | undefined },
): BackgroundCall {
  return {
    call: call.callId,
    tool: call.tool,
    title: toTitle(task),
    ...(model !== undefined && { model }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}

function withoutTask({ task: _task, ...wish }: ChildWish): Omit<ChildWish, 'task'> {
  return wish
}

/** What was said before the answer whose calls run now. */
function conversationOf(parentRun: OpenRun | undefined): OpenRun['nodes'] {
  if (parentRun === undefined)
    throw new ToolFailure({
      reason: 'no_conversation',
      message:
        'Only an agent that Handrail runs has a conversation to fork. Start an agent with agent.create_sub_agent, and tell it what it needs to know.',
    })
  const open = parentRun.nodes.findLastIndex(({ type }) => type === 'assistant')
  return parentRun.nodes.slice(0, open)
}
