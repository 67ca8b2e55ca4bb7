import { createRunBook, unknownRun } from '../../../agents/loop/run-book.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { Store } from '../../../contract/store.ts'
import { findParts } from '../../assemble-runtime.ts'
import type { RuntimeOptions } from '../../options/runtime-options.ts'
import { openStage } from '../open-stage.ts'
import { openPlace } from './open-place.ts'
import { replayTurns } from './replay-turns.ts'
import type { AgentDivergence, Found, Replaying, ReplayTask, SkippedPart } from './replaying.ts'

/** Which run of an agent to replay, and on what. */
export interface AgentReplayRequest {
  /** Where the run was recorded. It is only read. */
  store: Pick<Store, 'records' | 'facts' | 'documents' | 'lives' | 'digest'>
  /** Id of the run. */
  run: string
  /** Default `local`. */
  tenant?: string
  /**
   * The options of a runtime as it would be made now: its tools, policy, project and definitions of agents decide. Its store, artifacts, archive,
   * signing, approver, hooks, observers and clock are not used.
   */
  runtime: RuntimeOptions
  /** How the run would be started now. What is absent is as it was. */
  task?: ReplayTask
}

/** What became of the replay of a run with all that it started. It ends at the first divergence. */
export interface AgentReplay {
  readonly run: string
  readonly session: string
  /** Answers of models that were replayed, in this run and those that it started. */
  readonly turns: number
  /** Calls that were met. */
  readonly calls: number
  /** Calls that went as they did then. */
  readonly replayed: number
  /** Runs that its calls started, and theirs, that were met. */
  readonly children: readonly string[]
  readonly skipped: readonly SkippedPart[]
  readonly divergence: AgentDivergence | undefined
  /** Digests of the policies that decided then, in order, and of the one in force now. */
  readonly policies: { readonly recorded: readonly string[]; readonly now: string }
}

/**
 * Runs a recorded run of an agent once more, with all agents that it started: the answers of the models come from its conversation, what the world did
 * from the evidence. What a model would be told, and each decision about a call, is made anew with the options of now. No model and no person is
 * asked, no tool runs, nothing is written. Finds the first place where the run would go another way. Throws a SetupError if the run does not exist, or the
 * options make no runtime.
 *
 * @example
 * const replay = await replayAgentRun({ store: runtime.store, run: 'run_…', runtime: options })
 * if (replay.divergence !== undefined) console.log(replay.divergence.turn, replay.divergence.differences)
 */
export async function replayAgentRun(request: AgentReplayRequest): Promise<AgentReplay> {
  const { store, run: id, tenant = 'local', runtime: options, task = {} } = request
  const book = createRunBook({ ...readingOf(store), append: neverWrite })
  const run = book.load(tenant, id)
  if (run === undefined) throw unknownRun(id)
  const stage = await openStage({ tenant, startedAt: run.startedAt, store, options })
  const { context } = findParts(stage.runtime).tenants.of(tenant)
  const found: Found = {
    turns: 0,
    calls: 0,
    done: new Set(),
    children: [],
    skipped: [],
    policies: new Set(),
  }
  const replaying: Replaying = {
    stage,
    store,
    book,
    options,
    context,
    task,
    found,
    replay: (child, place) => replayTurns(child, place, replaying),
  }
  try {
    const divergence = await replayFrom(run, replaying)
    const { turns, calls, done, children, skipped, policies } = found
    return {
      run: id,
      session: run.session,
      turns,
      calls,
      replayed: done.size,
      children,
      skipped,
      divergence,
      policies: { recorded: [...policies], now: context.policy.digest },
    }
  } finally {
    await stage.close()
  }
}

async function replayFrom(
  run: NonNullable<ReturnType<Replaying['book']['load']>>,
  replaying: Replaying,
): Promise<AgentDivergence | undefined> {
  const place = await openPlace(run, replaying).catch((error: unknown) => {
    if (error instanceof SetupError) return error
    throw error
  })
  if (!(place instanceof SetupError)) {
    if ('differences' in place) return { run: run.id, session: run.session, ...place }
    return replayTurns(run, place, replaying)
  }
  const recorded = `${run.actor} of ${run.tenant} in the session ${run.session}`
  const differences = [{ what: 'session' as const, recorded, now: place.message }]
  return { run: run.id, session: run.session, differences }
}

function readingOf(
  store: AgentReplayRequest['store'],
): Pick<AgentReplayRequest['store'], 'documents' | 'lives'> {
  return { documents: (query) => store.documents(query), lives: (writer) => store.lives(writer) }
}

function neverWrite(): never {
  throw new Error('A replay writes nothing.')
}
