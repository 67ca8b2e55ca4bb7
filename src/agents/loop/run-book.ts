import { SetupError } from '../../contract/base/errors.ts'
import type { AgentRuns, RunResult, StoredRun, TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import type { DoorStep } from '../../doors/base/model-door.ts'
import type { RunSettings } from './run-settings.ts'

/** Who started a run, if a call of another one did. */
export interface RunParent {
  readonly session: string
  readonly toolCallId: string
  readonly run?: string
  /** Id of the definition of its agent. */
  readonly definition?: string
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
export interface KeptRun extends StoredRun {
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
  /** The ids of the runs that calls of a session have started. */
  children(tenant: string, session: string): readonly string[]
  /** Writes a run and its new nodes, all or nothing, and returns what stands there of it. Rejects if another process has taken the run over. */
  save(
    run: KeptRun,
    about: {
      /** What it was, as the last write returned it; null if it is new. */
      was: Json
      added: readonly TranscriptNode[]
      /** What has to be written with it. */
      documents: readonly DocumentChange[]
      /** As of `Store.append`. */
      early: boolean
    },
  ): Promise<Json>
}

/** The runs in a store. */
export function createRunBook(store: Store): RunBook {
  const load = (tenant: string, id: string): KeptRun | undefined =>
    readRun(store.documents({ tenant, kind: 'run', group: id, id })[0]?.value)
  return {
    load,
    children: (tenant, session) =>
      store.documents({ tenant, kind: 'child', group: session }).map(({ id }) => id),
    async save(run, { was, added, documents, early }) {
      const { id: group, tenant, parent } = run
      const value = toJson(run)
      const changes: DocumentChange[] = [
        { tenant, kind: 'run', group, id: group, value, was },
        ...added.map((node): DocumentChange => ({
          tenant,
          kind: 'node',
          group,
          id: nodeName(node),
          value: toJson(node),
          was: null,
        })),
        ...documents,
      ]
      if (was === null && parent !== undefined)
        changes.push({ tenant, kind: 'child', group: parent.session, id: group, value: null })
      await store.append([], { documents: changes, early })
      return value
    },
    list: ({ tenant = 'local', limit = 100 } = {}) =>
      store
        .documents({ tenant, kind: 'run', limit, newestFirst: true })
        .map(({ value }) => toStored(readRun(value), store)),
    find(id, tenant = 'local') {
      const run = load(tenant, id)
      return run && toStored(run, store)
    },
    transcript(id, tenant = 'local') {
      if (load(tenant, id) === undefined) throw unknownRun(id)
      return readNodes(store, tenant, id)
    },
  }
}

/** The conversation of a run, the oldest first. */
function readNodes(store: Store, tenant: string, id: string): TranscriptNode[] {
  return store
    .documents({ tenant, kind: 'node', group: id })
    .map(({ value }) => value as unknown as TranscriptNode)
}

/** Names that sort as nodes follow each other. */
function nodeName({ id }: TranscriptNode): string {
  return (id.split('.').at(-1) ?? '').padStart(8, '0')
}

export function unknownRun(id: string): SetupError {
  return new SetupError(
    'unknown_run',
    `There was never a run "${id}" of this tenant. "handrail runs" lists them.`,
  )
}

function toStored(run: KeptRun | undefined, store: Store): StoredRun {
  if (run === undefined) throw new Error('A run was read that is not there.')
  const { id, tenant, actor, session, model, startedAt, state, turns, usage, endReason, error } = run
  return {
    id,
    tenant,
    actor,
    session,
    model,
    startedAt,
    state: state === 'running' && !store.lives(run.writer) ? 'ended' : state,
    turns,
    usage,
    ...(endReason !== undefined && { endReason }),
    ...(error !== undefined && { error }),
  }
}

function readRun(value: Json | undefined): KeptRun | undefined {
  return value as KeptRun | undefined
}

/** As a store holds it. */
export function toJson(value: KeptRun | TranscriptNode): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
