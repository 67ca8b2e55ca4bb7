import { SetupError } from '../../contract/base/errors.ts'
import type { AgentRuns, RunResult, StoredRun, TranscriptNode } from '../../contract/agent-run.ts'
import type { ChildWish } from '../../contract/services/child-agents.ts'
import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { NoteRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import type { DoorStep } from '../../doors/base/model-door.ts'
import type { RunBrief } from './brief.ts'
import type { RunSettings } from './run-settings.ts'

/** Who started a run, if a call did. */
export type RunParent = NonNullable<StoredRun['parent']> & {
  /** Id of the definition of its agent. */
  readonly definition?: string
  /** What the call asked for. */
  readonly wish?: Omit<ChildWish, 'task'>
  /** Of one that runs on after its call: what its job is called, and what it takes to go on with it. */
  readonly background?: BackgroundCall
  /** Name of the worktree that it is held to. */
  readonly worktree?: string
}

/** What started an agent in the background. */
export interface BackgroundCall {
  readonly call: string
  readonly tool: string
  readonly title: string
  /** The model that the call named. */
  readonly model?: string
  readonly timeoutMs?: number
}

/** All that a run needs to go on in another process. */
export interface KeptRun extends Omit<StoredRun, 'parent' | 'definition' | 'endedAt'> {
  readonly settings: RunSettings
  readonly parent?: RunParent
  /** The process that runs it. */
  readonly writer: string
  /** Its nodes so far. */
  readonly nodes: number
  /** The calls of its last answer, if some of them wait for a person. */
  readonly step: DoorStep | null
  /** Whether the calls of its last answer are not over. */
  readonly hasOpenCalls: boolean
  /** How many of its nodes, the first ones, another run has said. */
  readonly copied?: number
  /** `maxTurns` counts from this turn on. */
  readonly countsFrom: number
  readonly result: RunResult | null
  /** Absent before it has ended once. */
  readonly ended?: RunEnded
}

/** What told a run to end whose time was over. */
export const timeOver = 'its time was over'

/** When a run ended, and what told it to, if something did. */
export interface RunEnded {
  readonly at: number
  readonly by?: string
}

/** Where runs are kept. */
export interface RunBook extends AgentRuns {
  load(tenant: string, id: string): KeptRun | undefined
  /** Ids of the runs that the calls of a session have started. */
  children(tenant: string, session: string): readonly string[]
  /** What the model was told beside the conversation, each from the node with this number on, the oldest first. */
  briefs(tenant: string, id: string): readonly KeptBrief[]
  /** Writes a run and what came to it, all or nothing, and returns what stands there of it. Rejects if another process has taken the run over. */
  save(run: KeptRun, about: SavedWith): Promise<Json>
}

/** A brief and the number of the first node that it stands for. */
export interface KeptBrief {
  readonly from: number
  readonly brief: RunBrief
}

/** What is written together with a run. */
export interface SavedWith {
  /** What it was, as the last write returned it; null if it is new. */
  readonly was: Json
  readonly added: readonly TranscriptNode[]
  readonly brief?: KeptBrief | undefined
  readonly note?: NoteRecord | undefined
  /** What has to be written with it. */
  readonly documents: readonly DocumentChange[]
  /** As of `Store.append`. */
  readonly early: boolean
}

/** The runs in a store. */
export function createRunBook(store: Pick<Store, 'documents' | 'append' | 'lives'>): RunBook {
  const load = (tenant: string, id: string): KeptRun | undefined =>
    readRun(store.documents({ tenant, kind: 'run', group: id, id })[0]?.value)
  return {
    load,
    children: (tenant, session) =>
      store.documents({ tenant, kind: 'child', group: session }).map(({ id }) => id),
    briefs: (tenant, id) =>
      store
        .documents({ tenant, kind: 'brief', group: id })
        .map((document) => ({ from: Number(document.id), brief: document.value as unknown as RunBrief })),
    async save(run, { was, added, brief, note, documents, early }) {
      const { id: group, tenant, parent } = run
      const value = toJson(run)
      const changes: DocumentChange[] = [
        { tenant, kind: 'run', group, id: group, value, was },
        ...added.map((node): DocumentChange => ({
          tenant,
          kind: 'node',
          group,
          id: sortable(numberOf(node)),
          value: toJson(node),
          was: null,
        })),
        ...documents,
      ]
      if (was === null) changes.push(startOf(run))
      if (was === null && parent !== undefined)
        changes.push({ tenant, kind: 'child', group: parent.session, id: group, value: null })
      if (brief !== undefined)
        changes.push({ tenant, kind: 'brief', group, id: sortable(brief.from), value: toJson(brief.brief) })
      await store.append(note === undefined ? [] : [{ record: note, body: null }], {
        documents: changes,
        early,
      })
      return value
    },
    list({ tenant = 'local', limit = 100 } = {}) {
      const ids = store.documents({ tenant, kind: 'run_start', limit, newestFirst: true }).map(({ id }) => id)
      const before = ids.length < limit ? withoutStart(store, tenant, new Set(ids)) : []
      return [...ids.map((id) => load(tenant, id)), ...before.slice(0, limit - ids.length)].map((run) =>
        toStored(run, store),
      )
    },
    find(id, tenant = 'local') {
      const run = load(tenant, id)
      return run && toStored(run, store)
    },
    transcript(id, tenant = 'local') {
      const run = load(tenant, id)
      if (run === undefined) throw unknownRun(id)
      if (run.prunedAt !== undefined) throw prunedRun(id)
      return readNodes(store, tenant, id)
    },
  }
}

/** Names a run by when it started: its id does not say, if a call started it. */
function startOf({ tenant, id, startedAt }: KeptRun): DocumentChange {
  return { tenant, kind: 'run_start', group: String(startedAt).padStart(15, '0'), id, value: null }
}

/** Runs of a version that named none by their start, the newest first. They are older than those that are. */
function withoutStart(
  store: Pick<Store, 'documents'>,
  tenant: string,
  named: ReadonlySet<string>,
): KeptRun[] {
  return store
    .documents({ tenant, kind: 'run' })
    .flatMap(({ id, value }) => readRun(named.has(id) ? undefined : value) ?? [])
    .toSorted((one, other) => other.startedAt - one.startedAt)
}

/** The conversation of a run, the oldest first. */
function readNodes(store: Pick<Store, 'documents'>, tenant: string, id: string): TranscriptNode[] {
  return store
    .documents({ tenant, kind: 'node', group: id })
    .map(({ value }) => value as unknown as TranscriptNode)
}

/** The change that leaves of a run that there was one, and what it took. */
export function withoutConversation(run: KeptRun, prunedAt: number): DocumentChange {
  const { id, tenant, actor, session, model, startedAt, turns, usage, endReason, writer, ended } = run
  const left: KeptRun = {
    id,
    tenant,
    actor,
    session,
    model,
    startedAt,
    state: 'ended',
    turns,
    usage,
    writer,
    settings: {},
    nodes: 0,
    step: null,
    hasOpenCalls: false,
    countsFrom: 0,
    result: null,
    prunedAt,
    ...(run.parent !== undefined && { parent: withoutSaid(run.parent) }),
    ...(endReason !== undefined && { endReason }),
    ...(ended !== undefined && { ended }),
  }
  return { tenant, kind: 'run', group: id, id, value: toJson(left), was: toJson(run) }
}

function numberOf({ id }: TranscriptNode): number {
  return Number(id.split('.').at(-1))
}

/** Names that sort as nodes follow each other. */
function sortable(node: number): string {
  return String(node).padStart(8, '0')
}

export function prunedRun(id: string): SetupError {
  return new SetupError(
    'run_pruned',
    `The conversation of the run "${id}" was pruned, so it cannot go on or be read. Start a new run.`,
  )
}

export function unknownRun(id: string): SetupError {
  return new SetupError(
    'unknown_run',
    `There was never a run "${id}" of this tenant. "handrail runs" lists them.`,
  )
}

function toStored(run: KeptRun | undefined, store: Pick<Store, 'lives'>): StoredRun {
  if (run === undefined) throw new Error('A run was read that is not there.')
  const { id, tenant, actor, session, model, startedAt, state, turns, usage, endReason, error } = run
  const { parent, prunedAt, ended, project } = run
  return {
    id,
    tenant,
    actor,
    session,
    ...(project !== undefined && { project }),
    model,
    startedAt,
    state: state === 'running' && !store.lives(run.writer) ? 'ended' : state,
    turns,
    usage,
    ...(endReason !== undefined && { endReason }),
    ...(error !== undefined && { error }),
    ...(parent !== undefined && { parent: toShownParent(parent) }),
    ...(parent?.definition !== undefined && { definition: parent.definition }),
    ...(prunedAt !== undefined && { prunedAt }),
    ...(endReason !== undefined && ended !== undefined && { endedAt: ended.at }),
  }
}

function toShownParent({ session, toolCallId, run }: RunParent): NonNullable<StoredRun['parent']> {
  return { session, toolCallId, ...(run !== undefined && { run }) }
}

/** Without words of the conversation. */
function withoutSaid({ wish: _wish, background: _background, ...parent }: RunParent): RunParent {
  return parent
}

function readRun(value: Json | undefined): KeptRun | undefined {
  return value as KeptRun | undefined
}

/** As a store holds it. */
export function toJson(value: KeptRun | TranscriptNode | RunBrief): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
