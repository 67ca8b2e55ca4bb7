import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { Document } from '../../../contract/documents.ts'
import type { Job, JobEnd } from '../../../contract/services/job.ts'
import type { Store } from '../../../contract/store.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'

/** A job of a long tool, as a store keeps it. */
export type StoredJob = {
  id: string
  tool: string
  /** The call that started it, by both of its ids. */
  call: string
  toolCallId: string
  actor: string
  role: string
  title: string
  /** As the evidence has it. */
  input: JsonObject
  startedAt: number
  /** Whether its session can be opened again. */
  staysOpen: boolean
  /** The process that follows it; empty if none does, as its session is closed. */
  writer: string
  /** `starting`: whether its work began is not known. */
  phase: 'starting' | 'running' | 'ended'
  state: Json
  /** How often it was asked. */
  polls: number
  /** What it said so far. */
  said: string
  end?: { how: JobEnd['how']; at: number; reason?: string }
}

/** Where the jobs of a session are. */
export interface JobGroup {
  readonly tenant: string
  readonly session: string
}

export function toDocument({ tenant, session }: JobGroup, job: StoredJob): Document {
  return { tenant, kind: 'job', group: session, id: job.id, value: job as unknown as JsonObject }
}

/** The jobs of long tools that a session started, the oldest first. */
export function readJobs({ tenant, session }: JobGroup, store: Pick<Store, 'documents'>): StoredJob[] {
  return store.documents({ tenant, kind: 'job', group: session }).flatMap(({ value }) => readJob(value))
}

export function readJob(value: Json): [] | [StoredJob] {
  if (!isJsonObject(value)) return []
  const isJob = ['id', 'tool', 'call', 'actor', 'phase', 'said'].every(
    (field) => typeof value[field] === 'string',
  )
  // The fields that decide were looked at; a document of a store is sealed.
  return isJob ? [value as unknown as StoredJob] : []
}

/** A kept job, as it is shown. */
export function viewStored({ id, call, tool, title, startedAt, said, end }: StoredJob): Job {
  return {
    id,
    kind: 'tool',
    call,
    tool,
    title,
    startedAt,
    bytes: Buffer.byteLength(said),
    ...(end !== undefined && { end: { ...end, exitCode: null, signal: null, survivors: [] } }),
  }
}

/** Bytes of what a job says that are kept. */
const mostSaid = 64 * 1024
const leftOut = '[it said more, which is not kept]\n'

/** What a job said, with one line more. */
export function withLine(said: string, line: string): string {
  if (line === '' || said.endsWith(leftOut)) return said
  return Buffer.byteLength(said) + Buffer.byteLength(line) > mostSaid ? said + leftOut : `${said}${line}\n`
}
