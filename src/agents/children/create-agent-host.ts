import { hash } from 'node:crypto'
import type { AgentHost, StartingCall } from '../../contract/agent-host.ts'
import type { AgentModel, AgentRun, RunResult } from '../../contract/agent-run.ts'
import type { RegisteredAgentDefinition } from '../../contract/base/agent-definition.ts'
import type { ChildAgents, ChildReport, ChildWish } from '../../contract/base/child-agents.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { roles } from '../../contract/base/principal.ts'
import type { Session, SessionOptions } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { openRun } from '../loop/open-run.ts'
import type { ChildPlace, OpenRun, RunPorts } from '../loop/run-state.ts'
import { childTask } from './child-task.ts'
import { childTools } from './child-tools.ts'

/** What the agents of calls stand on. */
export interface ChildPorts extends RunPorts {
  /** Agents that one session may start in all. */
  readonly childrenPerSession: number
  /** Those in force in the project of a session. */
  definitionsFor(session: Session): Promise<readonly RegisteredAgentDefinition[]>
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
        const { id, before } = placeOf(call, ports)
        if (before === undefined) countChild(call.session, started, ports)
        const definition = await findDefinition(wish, call.session, ports)
        const run = startChild(wish, { call, ports, id, before, definition })
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
  const goesOn = isCutOff || before.endReason === 'approval_pending'
  return goesOn ? { id: first, before } : { id: newId('run', ports.now()), before: undefined }
}

function countChild(session: Session, started: WeakMap<Session, number>, ports: ChildPorts): void {
  const { tenant } = session.principal
  const before = started.get(session) ?? ports.book.children(tenant, session.id)
  if (before >= ports.childrenPerSession)
    throw new ToolFailure({
      code: 'QUOTA.BUDGET_EXCEEDED',
      reason: 'agents',
      message: `This session has started ${before} agents, which is all that it may. Do the rest yourself.`,
      data: { limit: ports.childrenPerSession },
    })
  started.set(session, before + 1)
}

/** What an agent is started from, beside what its call wants. */
interface StartedChild {
  readonly call: StartingCall
  readonly ports: ChildPorts
  readonly id: string
  readonly before: KeptRun | undefined
  readonly definition: RegisteredAgentDefinition | undefined
}

function startChild(wish: ChildWish, { call, ports, id, before, definition }: StartedChild): AgentRun {
  const { session: parent } = call
  const parentRun = ports.runOf(parent)
  const model = findModel(wish, { definition, parentRun, ports })
  const timeoutMs = Math.min(...[wish.timeoutMs, definition?.limits?.timeoutMs].flatMap((each) => each ?? []))
  const signals = [
    wish.background === true ? call.closing() : call.signal,
    ...(Number.isFinite(timeoutMs) ? [AbortSignal.timeout(timeoutMs)] : []),
  ]
  const maxTurns = Math.min(...[wish.maxTurns, definition?.limits?.maxTurns].flatMap((each) => each ?? []))
  const allowedTools = childTools(wish, { definition, parent })
  const session: SessionOptions = {
    parent,
    role: narrower(wish.kind, definition?.role),
    agent: { agentId: definition?.id ?? wish.kind, runId: id },
    ...(definition?.mode !== undefined && { mode: definition.mode }),
    ...(definition?.disallowedTools !== undefined && { disallowedTools: definition.disallowedTools }),
    ...(allowedTools !== undefined && { allowedTools }),
  }
  const place: ChildPlace = {
    id,
    parent: {
      session: parent.id,
      toolCallId: call.toolCallId,
      ...(parentRun !== undefined && { run: parentRun.id }),
      ...(wish.definition !== undefined && { definition: wish.definition }),
    },
    nodes: wish.kind === 'fork' && before === undefined ? conversationOf(parentRun) : [],
  }
  const task = before === undefined ? { prompt: childTask(wish) } : { resume: id }
  return openRun(
    {
      ...task,
      model,
      session,
      signal: AbortSignal.any(signals),
      wait: wish.background === true || call.waits,
      ...(wish.kind === 'fork' &&
        parentRun?.kept.settings.system !== undefined && { system: parentRun.kept.settings.system }),
      ...(Number.isFinite(maxTurns) && { maxTurns }),
      ...present('output', wish.output ?? definition?.outputSchema),
      ...inherited(parentRun),
      ...told(definition, parentRun),
    },
    ports,
    place,
  )
}

function present<Name extends string, Value>(name: Name, value: Value | undefined) {
  // The object has this one field, or none.
  return (value === undefined ? {} : { [name]: value }) as { [field in Name]?: Value }
}

/** What its definition tells an agent. What a project says is told as text of the project, and not in our words. */
function told(definition: RegisteredAgentDefinition | undefined, parentRun: OpenRun | undefined) {
  if (definition === undefined) return {}
  const { origin, instructions } = definition
  if (origin !== 'project') return { system: instructions }
  return { instructions: [...(parentRun?.kept.settings.instructions ?? []), instructions] }
}

function narrower(kind: ChildWish['kind'], role: RegisteredAgentDefinition['role'] = kind) {
  return roles.indexOf(role) > roles.indexOf(kind) ? role : kind
}

/** What an agent has from the one that started it, as it works with the same provider for the same project. */
function inherited(parentRun: OpenRun | undefined) {
  const { presentation, price, providerOptions, instructions, contextTokens } = parentRun?.kept.settings ?? {}
  return {
    ...(presentation !== undefined && { presentation }),
    ...(price !== undefined && { price }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(instructions !== undefined && { instructions }),
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
  ports: ChildPorts,
): Promise<RegisteredAgentDefinition | undefined> {
  if (id === undefined) return undefined
  const definitions = await ports.definitionsFor(session)
  const found = definitions.find((each) => each.id === id)
  if (found === undefined)
    throw new ToolFailure({
      reason: 'unknown_definition',
      message: `There are agent definitions ${definitions.map((each) => `"${each.id}"`).join(', ')}, and "${id}" is not among them.`,
      data: { definition: id },
    })
  if (found.isolation === 'none') return found
  throw new ToolFailure({
    reason: 'no_isolation',
    message: `The definition "${id}" asks for the isolation "${found.isolation}", which agents that are started by a call do not have. Take another definition, or none.`,
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
  const name = wish.model
  // The author of a definition did not know which models there are here.
  const suggested = definition?.model === undefined ? undefined : ports.findModel(definition.model)
  const found =
    name === undefined ? (suggested ?? parentRun?.model ?? ports.findModel(undefined)) : ports.findModel(name)
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
