import { setImmediate } from 'node:timers/promises'
import { SetupError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { AgentRun, RunEvent, RunResult, TranscriptNode } from '../../contract/agent-run.ts'
import type { RunOptions, SessionOptions } from '../../contract/runtime.ts'
import type { Session } from '../../contract/runtime.ts'
import { openModelCalls } from '../../doors/language-model/open-model-calls.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { newId } from '../../kit/new-id.ts'
import { noUsage } from './count-usage.ts'
import { createEventQueue } from './create-event-queue.ts'
import { prunedRun, toJson, unknownRun, type KeptRun } from './run-book.ts'
import { runAgent } from './run-agent.ts'
import { briefOf, isSameBrief, type RunBrief } from './brief.ts'
import { toStartNote } from './run-notes.ts'
import { checkRunOptions, isSession, toKeptSession, toSettings } from './run-settings.ts'
import type { RunPlace, NewNode, OpenRun, RunPorts } from './run-state.ts'

/** The runs that this process has under way, by their stores. */
const underWay = new WeakMap<Store, Set<string>>()

/** Starts a run, or goes on with one; that is durable when this resolves. Rejects with a SetupError for every issue of the options. */
export async function openRun(options: RunOptions, ports: RunPorts, place?: RunPlace): Promise<AgentRun> {
  const issues = checkRunOptions(options, ports.checker)
  if (issues.length > 0) throw new SetupError('invalid_options', 'The run cannot be started:', issues)
  const before = options.resume === undefined ? undefined : loadRun(options, ports, place)
  const id = before?.id ?? place?.id ?? newId('run', ports.now())
  const { session, isOwn } = takeSession(options, { id, before, place, ports })
  const controller = new AbortController()
  const signals = options.signal === undefined ? [] : [options.signal]
  const signal = AbortSignal.any([controller.signal, ...signals])
  const queue = createEventQueue<RunEvent>()
  const own = underWay.get(ports.store) ?? new Set()
  underWay.set(ports.store, own)
  const end = async (): Promise<void> => {
    own.delete(id)
    queue.end()
    if (isOwn) await session.close()
  }
  let state: OpenRun
  const tell = (event: RunEvent): void => {
    queue.push(event)
    ports.told(state, event)
  }
  try {
    state = toOpenRun(options, { id, before, place, session, ports, signal, tell })
    own.add(id)
    await begin(state, options, { before, first: place?.nodes ?? [] })
  } catch (error) {
    await end()
    throw isDocumentChanged(error) ? inProgress(id, 'another process') : error
  }
  const go = async (): Promise<RunResult> => {
    try {
      // Who starts a run may follow it from its first event.
      await setImmediate()
      state.tell({ type: 'run_started', run: id, session: session.id, resumed: before !== undefined })
      if (before !== undefined) await ports.resumeAgents(state)
      return await runAgent(state)
    } finally {
      await end()
    }
  }
  const result = go()
  const run: AgentRun = {
    id,
    result,
    abort: (reason) => controller.abort(reason),
    [Symbol.asyncIterator]: () => queue.follow(),
  }
  const ended = ports.follow(run, state)
  // Who waits for the result hears of it; a run that is only followed must not end the process.
  result.then(ended, ended)
  return run
}

function loadRun(
  { resume = '', session, prompt }: RunOptions,
  { book, store }: RunPorts,
  place: RunPlace | undefined,
): KeptRun {
  const tenant = (isSession(session) ? session.principal.tenant : session?.tenant) ?? 'local'
  const before = book.load(tenant, resume)
  if (before === undefined) throw unknownRun(resume)
  const { id, state, writer, actor, parent, prunedAt } = before
  if (prunedAt !== undefined) throw prunedRun(id)
  if (parent !== undefined && place === undefined)
    throw new SetupError(
      'invalid_options',
      `The run "${id}" was started by a call of ${parent.run === undefined ? `the session "${parent.session}"` : `the run "${parent.run}"`}. Resume that one: it goes on with this one.`,
    )
  if (underWay.get(store)?.has(id) === true) throw inProgress(id, 'this process')
  // One of this process that is not under way could not be kept when it ended.
  if (state === 'running' && writer !== store.writer && store.lives(writer))
    throw inProgress(id, 'another process')
  const given = isSession(session) ? session.principal.actor : session?.actor
  if (given !== undefined && given !== actor)
    throw new SetupError(
      'invalid_options',
      `The run "${id}" is of the actor "${actor}", and not of "${given}".`,
    )
  if (prompt === undefined && before.endReason === 'completed')
    throw new SetupError(
      'invalid_options',
      `The run "${id}" has completed. Say with "prompt" what comes next.`,
    )
  if (prompt !== undefined && before.hasOpenCalls)
    throw new SetupError(
      'invalid_options',
      `Calls of the run "${id}" are not over: go on without a "prompt", and say more when it has ended.`,
    )
  return before
}

function inProgress(id: string, where: string): SetupError {
  return new SetupError(
    'run_in_progress',
    `The run "${id}" goes on in ${where}. Wait for its end, or end it there.`,
  )
}

function takeSession(
  { session: given }: RunOptions,
  about: { id: string; before: KeptRun | undefined; place: RunPlace | undefined; ports: RunPorts },
): { session: Session; isOwn: boolean } {
  const { id, before, place, ports } = about
  if (isSession(given)) {
    if (before !== undefined && before.session !== given.id)
      throw new SetupError(
        'invalid_options',
        `The run "${id}" is of the session "${before.session}", and not of "${given.id}".`,
      )
    return { session: given, isOwn: false }
  }
  const kept = before?.settings.session
  if (before !== undefined && kept === undefined)
    throw new SetupError(
      'invalid_options',
      `The run "${id}" is of a session of the program. Open it by its id "${before.session}", and hand it in.`,
    )
  const own: SessionOptions = { role: 'main', agent: { agentId: 'main', runId: id }, ...kept, ...given }
  const session =
    own.parent === undefined
      ? ports.openSession({ ...own, id: kept?.id ?? given?.id ?? id })
      : ports.openSession(withoutId(own), { id, worktree: place?.worktree })
  return { session, isOwn: true }
}

function toOpenRun(
  options: RunOptions,
  about: Pick<OpenRun, 'id' | 'session' | 'ports' | 'signal' | 'tell'> & {
    before: KeptRun | undefined
    place: RunPlace | undefined
  },
): OpenRun {
  const { before, place, id, session, ports } = about
  // Who says more to an agent is the one that it goes on for.
  const parents = [before?.parent, place?.parent]
  const parent = (options.prompt === undefined ? parents : parents.toReversed()).find(Boolean)
  const { model } = options
  const { tenant, actor } = session.principal
  const settings = {
    ...before?.settings,
    ...toSettings(options),
    ...(!isSession(options.session) && {
      session: toKeptSession({ ...before?.settings.session, ...options.session }, session.id),
    }),
  }
  const kept: KeptRun = {
    id,
    tenant,
    actor,
    session: session.id,
    project: before?.project ?? ports.projectOf(session),
    startedAt: before?.startedAt ?? ports.now(),
    turns: before?.turns ?? 0,
    countsFrom: before?.countsFrom ?? 0,
    usage: before?.usage ?? noUsage,
    nodes: before?.nodes ?? 0,
    step: before?.step ?? null,
    hasOpenCalls: before?.hasOpenCalls ?? false,
    result: null,
    ...(parent !== undefined && { parent }),
    settings,
    model: { provider: model.provider, modelId: model.modelId },
    state: 'running',
    writer: ports.store.writer,
  }
  const nodes = before === undefined ? [] : [...ports.book.transcript(id, tenant)]
  const calls = openModelCalls(session, { model, presentation: settings.presentation })
  let saved: Json = before === undefined ? null : toJson(before)
  let briefed: RunBrief | undefined
  const narrowing = () => ports.narrowingOf(session)
  return {
    ...about,
    model,
    calls,
    nodes,
    kept,
    brief: briefOf({ settings, calls, session, narrowing: narrowing() }),
    definition: place?.definition,
    isCutOff: before?.state === 'running',
    wait: options.wait ?? false,
    async save(change, added = [], { note, documents = [], early = false } = {}) {
      const first = this.kept.nodes
      const { brief } = this
      const isNew = briefed !== brief && !isSameBrief(briefed, brief)
      const named = added.map(
        (node, index): TranscriptNode =>
          ({ ...node, id: `${id}.${first + index + 1}`, at: ports.now() }) as TranscriptNode,
      )
      const next: KeptRun = { ...this.kept, ...change, nodes: first + named.length }
      saved = await ports.book.save(next, {
        was: saved,
        added: named,
        brief: isNew ? { from: first + 1, brief } : undefined,
        note,
        documents,
        early,
      })
      briefed = brief
      this.kept = next
      nodes.push(...named)
      ports.kept(this, named)
    },
  }
}

/** Takes the run over, and adds what the user says. */
async function begin(
  run: OpenRun,
  { prompt }: RunOptions,
  { before, first }: { before: KeptRun | undefined; first: readonly TranscriptNode[] },
): Promise<void> {
  const skills = before === undefined ? await run.ports.describeSkills(run.session) : undefined
  const isNewLimit = prompt !== undefined || before?.endReason === 'max_turns'
  const countsFrom = isNewLimit ? run.kept.turns : run.kept.countsFrom
  const settings = { ...run.kept.settings, ...(skills !== undefined && { skills }) }
  const { calls, session, ports } = run
  run.brief = briefOf({ settings, calls, session, narrowing: ports.narrowingOf(session) })
  await run.save(
    { countsFrom, settings, ...(first.length > 0 && { copied: first.length }) },
    [...first.map(toNew), ...whatIsSaid(run, prompt, before)],
    { note: toStartNote(run, { resumed: before !== undefined, countsFrom }) },
  )
}

/** An answer that was of no use is followed by a word of ours, as a model is not asked twice the same. */
function whatIsSaid(
  { nodes, kept }: OpenRun,
  prompt: string | undefined,
  before: KeptRun | undefined,
): NewNode[] {
  if (prompt !== undefined) return [{ type: 'user', text: prompt }]
  // What the last answer of a process that was killed means, is not judged yet.
  if (before?.state === 'running' || kept.hasOpenCalls || nodes.at(-1)?.type !== 'assistant') return []
  return [{ type: 'user', text: 'Go on where you stopped.' }]
}

/** A node of another conversation, as one of this. */
function toNew({ id: _id, at: _at, ...node }: TranscriptNode): NewNode {
  return node
}

function withoutId({ id: _id, ...options }: SessionOptions): SessionOptions {
  return options
}
