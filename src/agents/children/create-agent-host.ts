import { hash } from 'node:crypto'
import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type { AgentModel, AgentRun, RunResult } from '../../contract/agent-run.ts'
import type {
  AgentDefinitionRegistry,
  RegisteredAgentDefinition,
} from '../../contract/base/agent-definition.ts'
import type { ChildAgents, ChildReport, ChildWish } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { openRun } from '../loop/open-run.ts'
import type { RunPlace, OpenRun, RunPorts } from '../loop/run-state.ts'
import { childSession, childTask, least } from './child-options.ts'
import { childPrompt } from './child-prompt.ts'

/** What the agents of calls stand on. */
export interface ChildPorts extends RunPorts {
  /** Agents that one session may start in all. */
  readonly childrenPerSession: number
  /** The project of the tenant of a session. */
  readonly projectOf: (session: Session) => string
  /** Undefined if the host has none. */
  readonly definitions: AgentDefinitionRegistry | undefined
  /** The model of this name, or the one to take if none is named. */
  findModel(name: string | undefined): AgentModel | undefined
  /** The run that a session works for right now. */
  runOf(session: Session): OpenRun | undefined
}

/** Starts agents for calls. */
export function createAgentHost(ports: ChildPorts): AgentHost {
  const started = new WeakMap<Session, number>()
  return {
    open: (call): ChildAgents => ({
      async start(wish) {
        const definition = await findDefinition(wish, call.session, ports)
        const { id, before } = placeOf(call, ports)
        const count = before === undefined ? countChild(call.session, started, ports) : undefined
        const starting = startChild(wish, { call, ports, id, before, definition })
        count?.()
        const run = await starting
        if (wish.background === true) {
          // How it ended stands in its run.
          run.result.catch(() => undefined)
          return { ...emptyReport, agent: id, ...named(wish), state: 'running' }
        }
        return toReport(await run.result, wish.definition)
      },
      async inspect(agent) {
        const run = ports.book.load(call.session.principal.tenant, agent)
        if (run?.parent?.session !== call.session.id) throw unknownAgent(agent)
        return toPresent(run, ports)
      },
    }),
  }
}

/**
 * The id of the agent of a call: that of the one that it started before, if that one was cut off or waits; else a new one. Providers count ids from zero, so
 * an agent that has ended says nothing about a new call.
 */
function placeOf(
  { session, toolCallId }: StartingCall,
  ports: ChildPorts,
): { id: string; before: KeptRun | undefined } {
  const { book, store } = ports
  const { tenant } = session.principal
  const first = `run_${hash('sha256', JSON.stringify([tenant, session.id, toolCallId]), 'hex').slice(0, 24)}`
  const before = book.load(tenant, first)
  if (before === undefined) return { id: first, before }
  const isCutOff = before.state === 'running' && !store.lives(before.writer)
  const goesOn = before.prunedAt === undefined && (isCutOff || before.endReason === 'approval_pending')
  return goesOn ? { id: first, before } : { id: newId('run', ports.now()), before: undefined }
}

/** Refuses one too many. Returns what counts it. */
function countChild(session: Session, started: WeakMap<Session, number>, ports: ChildPorts): () => void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id).length
  if (before >= ports.childrenPerSession)
    throw new ToolFailure({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'agents',
      message: `This session has started ${before} agents, which is all that it may. Do the rest yourself.`,
      data: { limit: ports.childrenPerSession },
    })
  return () => void started.set(session, before + 1)
}

interface Start {
  readonly call: StartingCall
  readonly ports: ChildPorts
  readonly id: string
  readonly before: KeptRun | undefined
  readonly definition: RegisteredAgentDefinition | undefined
}

function startChild(wish: ChildWish, start: Start): Promise<AgentRun> {
  const { call, ports, id, before, definition } = start
  const parentRun = ports.runOf(call.session)
  const model = findModel(wish, { definition, parentRun, ports })
  const ground = { definition, parent: call.session, settings: parentRun?.kept.settings }
  const timeoutMs = least(wish.timeoutMs, definition?.limits?.timeoutMs)
  const how = childTask(wish, ground)
  const signals = [
    wish.background === true ? call.closing() : call.signal,
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
  ]
  const place: RunPlace = {
    id,
    parent: {
      session: call.session.id,
      toolCallId: call.toolCallId,
      ...(parentRun !== undefined && { run: parentRun.id }),
      wish: withoutTask(wish),
    },
    definition,
    nodes: wish.kind === 'fork' && before === undefined ? conversationOf(parentRun) : [],
  }
  const task =
    before === undefined ? { prompt: childPrompt({ ...wish, output: how.output }) } : { resume: id }
  return openRun(
    {
      ...how,
      ...task,
      model,
      session: {
        ...childSession(wish, ground),
        parent: call.session,
        agent: { agentId: definition?.id ?? wish.kind, runId: id },
      },
      signal: AbortSignal.any(signals),
      wait: wish.background === true || call.waits,
    },
    ports,
    place,
  )
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

async function findDefinition(
  { definition: id }: ChildWish,
  session: Session,
  { definitions, projectOf }: ChildPorts,
): Promise<RegisteredAgentDefinition | undefined> {
  if (id === undefined) return undefined
  const project = projectOf(session)
  const found = await definitions?.find(id, project)
  if (found?.isolation === 'worktree') throw noWorktree(id)
  if (found !== undefined) return found
  const ids = ((await definitions?.list(project))?.definitions ?? []).map((each) => `"${each.id}"`)
  throw new ToolFailure({
    reason: 'unknown_definition',
    message: `There is no agent definition "${id}". ${ids.length === 0 ? 'There are none: leave it out.' : `There are ${ids.join(', ')}.`}`,
    data: { definition: id },
  })
}

function noWorktree(id: string): ToolFailure {
  return new ToolFailure({
    reason: 'no_isolation',
    message: `The definition "${id}" wants a git worktree for its agent, and an agent cannot be held to one here. Start one without that definition, and have it use code.enter_worktree.`,
    data: { definition: id },
  })
}

function findModel(
  wish: ChildWish,
  about: {
    definition: RegisteredAgentDefinition | undefined
    parentRun: OpenRun | undefined
    ports: ChildPorts
  },
): AgentModel {
  const { definition, parentRun, ports } = about
  const { model: name } = wish
  // What a definition names is what its author meant it for, in words of another program perhaps.
  const meant = definition?.model === undefined ? undefined : ports.findModel(definition.model)
  const usual = meant ?? parentRun?.model ?? ports.findModel(undefined)
  const found = name === undefined ? usual : ports.findModel(name)
  if (found !== undefined) return found
  throw new ToolFailure({
    reason: 'no_model',
    message:
      name === undefined
        ? 'No model is configured that an agent could work with. The operator sets one with "agents.model".'
        : `The model "${name}" is not known here. Leave it out, or let the operator add it to "agents.models".`,
    data: name === undefined ? {} : { model: name },
  })
}

function unknownAgent(agent: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_agent',
    message: `This session started no agent "${agent}".`,
    data: { agent },
  })
}

const emptyReport = { text: '', turns: 0, usage: { inputTokens: 0, outputTokens: 0 } }

function named({ definition }: Pick<ChildWish, 'definition'>): { definition?: string } {
  return definition === undefined ? {} : { definition }
}

function toReport(result: RunResult, definition: string | undefined): ChildReport {
  const { id, endReason, text, output, turns, usage, error, waiting } = result
  const [first] = waiting
  return {
    agent: id,
    ...named({ definition }),
    state: 'ended',
    endReason,
    text,
    turns,
    usage,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(first !== undefined && { waiting: first.id }),
  }
}

function toPresent(
  { id, result, definition, state, turns, usage, writer }: KeptRun,
  { store }: ChildPorts,
): ChildReport {
  if (result !== null && state === 'ended') return toReport(result, definition)
  const isRunning = state === 'running' && store.lives(writer)
  return {
    agent: id,
    ...named({ definition }),
    state: isRunning ? 'running' : 'ended',
    text: '',
    turns,
    usage,
  }
}
