import { hash } from 'node:crypto'
import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type { AgentModel, AgentRun, RunResult } from '../../contract/agent-run.ts'
import type {
  AgentDefinitionRegistry,
  RegisteredAgentDefinition,
} from '../../contract/base/agent-definition.ts'
import type { ChildAgents, ChildReport, ChildWish } from '../../contract/base/child-agents.ts'
import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { RunOptions, Session, SessionOptions } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun, RunParent } from '../loop/run-book.ts'
import { openRun } from '../loop/open-run.ts'
import type { ChildPlace, OpenRun, RunPorts } from '../loop/run-state.ts'
import { childTask } from './child-task.ts'
import { childTools } from './child-tools.ts'

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
        const { id, before, ended } = placeOf(call, ports)
        if (ended !== undefined) return toReport(ended, wish.definition)
        const count = before === undefined ? countChild(call.session, started, ports) : undefined
        const starting = startChild(wish, { call, ports, id, before, definition })
        count?.()
        const run = await starting
        if (wish.background === true) {
          follow(run)
          return { ...emptyReport, agent: id, ...named(wish), state: 'running' }
        }
        return toReport(await run.result, wish.definition)
      },
      async inspect(agent) {
        const load = () => ports.book.load(call.session.principal.tenant, agent)
        const run = load()
        if (run?.parent?.session !== call.session.id) throw unknownAgent(agent)
        if (run.parent.background === undefined || !isCutOff(run, ports)) return toPresent(run, ports)
        await goOn(run, call, ports)
        return toPresent(load() ?? run, ports)
      },
    }),
  }
}

interface Place {
  readonly id: string
  /** Its run, if it goes on. */
  readonly before?: KeptRun | undefined
  /** How it ended, if this very call started it, and was cut off before it could tell. */
  readonly ended?: RunResult
}

/**
 * The agent of a call: the one that it started before, if that one was cut off or waits, or if the call was; else a new one. Providers count ids from
 * zero, so an agent that has ended says nothing about a new call, unless the id of the call is one that a run gave it.
 */
function placeOf({ session, toolCallId }: StartingCall, ports: ChildPorts): Place {
  const { book } = ports
  const { tenant } = session.principal
  const first = `run_${hash('sha256', JSON.stringify([tenant, session.id, toolCallId]), 'hex').slice(0, 24)}`
  const before = book.load(tenant, first)
  if (before === undefined) return { id: first }
  const goesOn = isCutOff(before, ports) || before.endReason === 'approval_pending'
  if (goesOn) return { id: first, before }
  const run = ports.runOf(session)
  const isSame = run !== undefined && before.parent?.run === run.id && toolCallId.startsWith(`${run.id}.`)
  return isSame && before.result !== null
    ? { id: first, ended: before.result }
    : { id: newId('run', ports.now()) }
}

/** Whether its process is gone and it had not ended. */
function isCutOff({ state, writer }: KeptRun, { store }: ChildPorts): boolean {
  return state === 'running' && !store.lives(writer)
}

/** Has an agent in the background go on that was cut off. */
async function goOn(before: KeptRun, call: StartingCall, ports: ChildPorts): Promise<void> {
  const { id, parent } = before
  const meant = parent?.definition
  const definition =
    meant === undefined ? undefined : await ports.definitions?.find(meant, ports.projectOf(call.session))
  const wish: ChildWish = {
    kind: 'sub',
    task: '',
    definition: meant,
    ...parent?.background,
    background: true,
  }
  try {
    follow(await startChild(wish, { call, ports, id, before, definition }))
  } catch (error) {
    // Another look at it was faster.
    if (!(error instanceof SetupError && error.code === 'run_in_progress')) throw error
  }
}

/** How one in the background ends stands in its run. */
function follow({ result }: AgentRun): void {
  result.catch(() => undefined)
}

/** Refuses one too many. Returns what counts it. */
function countChild(session: Session, started: WeakMap<Session, number>, ports: ChildPorts): () => void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id)
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
  const timeoutMs = least(wish.timeoutMs, definition?.limits?.timeoutMs)
  const maxTurns = least(wish.maxTurns, definition?.limits?.maxTurns)
  const output = wish.output ?? definition?.outputSchema
  const signals = [
    wish.background === true ? call.closing() : call.signal,
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
  ]
  const place: ChildPlace = {
    id,
    parent: {
      session: call.session.id,
      toolCallId: call.toolCallId,
      ...(parentRun !== undefined && { run: parentRun.id }),
      ...named(wish),
      ...(wish.background === true && { background: toBackground(wish) }),
    },
    nodes: wish.kind === 'fork' && before === undefined ? conversationOf(parentRun) : [],
  }
  const task = before === undefined ? { prompt: childTask({ ...wish, output }) } : { resume: id }
  return openRun(
    {
      ...task,
      model,
      session: sessionOf(wish, start),
      signal: AbortSignal.any(signals),
      wait: wish.background === true || call.waits,
      ...inherited(parentRun),
      ...toldBy(wish, { definition, parentRun }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(output !== undefined && { output }),
    },
    ports,
    place,
  )
}

function toBackground({ model, timeoutMs }: ChildWish): RunParent['background'] {
  return { ...(model !== undefined && { model }), ...(timeoutMs !== undefined && { timeoutMs }) }
}

/**
 * Its session is below that of the call, so that it can do what that one may, or less, whatever is asked for here. One that goes on has the tools that it
 * had.
 */
function sessionOf(
  wish: ChildWish,
  { call: { session: parent }, id, before, definition }: Start,
): SessionOptions {
  if (before !== undefined) return { parent }
  const allowedTools = childTools(wish, { definition, parent })
  return {
    parent,
    role: wish.kind === 'sub' ? (definition?.role ?? 'sub') : wish.kind,
    agent: { agentId: definition?.id ?? wish.kind, runId: id },
    ...(allowedTools !== undefined && { allowedTools }),
    ...(definition?.disallowedTools !== undefined && { disallowedTools: definition.disallowedTools }),
    ...(definition?.mode !== undefined && { mode: definition.mode }),
  }
}

/** How an agent works: as its definition says, which is text of a stranger if the project wrote it; a fork as its parent. */
function toldBy(
  { kind }: ChildWish,
  about: { definition: RegisteredAgentDefinition | undefined; parentRun: OpenRun | undefined },
): Pick<RunOptions, 'system' | 'instructions'> {
  const { definition, parentRun } = about
  const { system, instructions = [] } = parentRun?.kept.settings ?? {}
  if (kind === 'fork' || definition === undefined)
    return { instructions, ...(kind === 'fork' && system !== undefined && { system }) }
  return definition.origin === 'project'
    ? { instructions: [...instructions, definition.instructions] }
    : { instructions, system: definition.instructions }
}

function least(...limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What an agent has from the one that started it, as it works with the same provider for the same project. */
function inherited(parentRun: OpenRun | undefined) {
  const { presentation, price, providerOptions, contextTokens } = parentRun?.kept.settings ?? {}
  return {
    ...(presentation !== undefined && { presentation }),
    ...(price !== undefined && { price }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(contextTokens !== undefined && { contextTokens }),
  }
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
  { id, result, parent, state, turns, usage, writer }: KeptRun,
  { store }: ChildPorts,
): ChildReport {
  const definition = parent?.definition
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
