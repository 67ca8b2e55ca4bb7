import type { AgentModel, AgentRun, AgentRuns, RunResult, TranscriptNode } from '../../contract/agent-run.ts'
import type { Json } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { ExtractionOptions, ExtractionReport } from '../../contract/memory.ts'
import type { MemoryFact } from '../../contract/services/memory.ts'
import type { RunOptions } from '../../contract/runtime.ts'
import type { Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import type { KeptRun } from '../loop/run-book.ts'
import { finishTaken, putCandidate, readCandidates } from './candidates.ts'
import {
  outputSchema,
  readProposals,
  takePart,
  toPrompt,
  type Part,
  type Proposal,
} from './extraction-talk.ts'
import type { FactFolder } from './fact-folder.ts'
import { toFact } from './to-fact.ts'

/** What extractions stand on. The folder is all that they write to. */
export interface ExtractionPorts {
  readonly store: Store
  readonly folder: FactFolder
  readonly runs: AgentRuns & { load(tenant: string, id: string): KeptRun | undefined }
  startAgent(options: RunOptions, id: string): Promise<AgentRun>
  /** Takes secrets out. */
  readonly redact: (text: string) => string
  readonly now: () => number
}

/** How far the conversation of a run was read, and what reads on. */
interface Reading {
  readonly upTo: number
  readonly current: { readonly by: string; readonly to: number } | null
}

interface Job {
  readonly ports: ExtractionPorts
  readonly tenant: string
  readonly model: AgentModel
  readonly signal: AbortSignal | undefined
}

interface Found {
  facts: MemoryFact[]
  leftOut: number
}

const prefix = 'extraction'
/** How runs end that go on where they stood. */
const resumable: readonly (string | undefined)[] = [undefined, 'aborted', 'aborted_tools']

/** Reads what ended runs said and no extraction has read, and writes the facts of it. */
export async function extractFacts(
  ports: ExtractionPorts,
  { tenant = 'local', model, limit = 20, signal }: ExtractionOptions & { model: AgentModel },
): Promise<ExtractionReport> {
  const job: Job = { ports, tenant, model, signal }
  await finishTaken(ports.store, ports.folder, tenant)
  const found: Found = { facts: [], leftOut: 0 }
  const failed: { run: string; message: string }[] = []
  let read = 0
  for (const run of findUnread(job, limit)) {
    if (signal?.aborted === true) break
    try {
      if (await readRun(run, job, found)) read++
    } catch (error) {
      if (error instanceof SetupError && error.code === 'run_in_progress') continue
      failed.push({ run: run.id, message: ports.redact(messageOf(error)) })
    }
  }
  return { runs: read, facts: found.facts, leftOut: found.leftOut, failed }
}

/** The oldest first. Sub-agents keep nothing for later, and an extraction does not read itself. */
function findUnread({ ports, tenant }: Job, limit: number): KeptRun[] {
  return ports.runs
    .list({ tenant, limit: 10_000 })
    .filter(({ id, state, parent, prunedAt }) => {
      if (state !== 'ended' || parent !== undefined || prunedAt !== undefined) return false
      return !id.startsWith(`${prefix}_`)
    })
    .toReversed()
    .flatMap(({ id }) => ports.runs.load(tenant, id) ?? [])
    .filter(({ id, nodes }) => nodes > readReading(ports.store, tenant, id).upTo)
    .slice(0, limit)
}

/** Reads a conversation to its end, part by part. False if others did all of it meanwhile. */
async function readRun(run: KeptRun, job: Job, found: Found): Promise<boolean> {
  const { ports, tenant } = job
  let did = false
  for (;;) {
    const reading = readReading(ports.store, tenant, run.id)
    const nodes = ports.runs.transcript(run.id, tenant)
    if (nodes.length <= reading.upTo) return did
    try {
      if (reading.current === null) await claimPart(run, { job, reading, nodes })
      else did = (await readPart(run, { job, reading, nodes, found })) || did
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

interface Place {
  readonly job: Job
  readonly reading: Reading
  readonly nodes: readonly TranscriptNode[]
}

async function claimPart({ id }: KeptRun, { job, reading, nodes }: Place): Promise<void> {
  const { ports, tenant } = job
  const { to, said } = takePart(nodes, reading.upTo)
  const next: Reading =
    said.length === 0
      ? { upTo: to, current: null }
      : { ...reading, current: { by: newId(prefix, ports.now()), to } }
  await ports.store.append([], { documents: [changeReading({ tenant, run: id, was: reading }, next)] })
}

async function readPart(
  run: KeptRun,
  { job, reading, nodes, found }: Place & { found: Found },
): Promise<boolean> {
  const { ports, tenant } = job
  const { current } = reading
  if (current === null) return false
  const part = takePart(nodes.slice(0, current.to), reading.upTo)
  const candidates = readCandidates(ports.store, tenant).filter(
    ({ fact, state }) => state === 'open' && isOf(run, fact),
  )
  const prompt = ports.redact(
    toPrompt(
      part,
      candidates.map(({ fact }) => fact),
    ),
  )
  const result = await ask(current.by, { run, job, prompt })
  if (result.endReason !== 'completed') {
    if (!resumable.includes(result.endReason))
      await ports.store.append([], {
        documents: [changeReading({ tenant, run: run.id, was: reading }, { ...reading, current: null })],
      })
    throw new Error(result.error?.message ?? `The model did not come to an end: ${result.endReason}.`)
  }
  const { documents, facts, leftOut } = toChanges(run, {
    job,
    part,
    proposals: readProposals(result.output),
    by: current.by,
  })
  const done = changeReading({ tenant, run: run.id, was: reading }, { upTo: current.to, current: null })
  // All of it, or nothing: what was taken gets its files after that, also if this process is killed.
  await ports.store.append([], { documents: [done, ...documents] })
  found.facts.push(...facts)
  found.leftOut += leftOut
  await finishTaken(ports.store, ports.folder, tenant)
  return true
}

/** The answer of the model, which is asked once, also if it answered a process that is gone. */
async function ask(
  by: string,
  { run, job, prompt }: { run: KeptRun; job: Job; prompt: string },
): Promise<Pick<RunResult, 'endReason' | 'output' | 'error'>> {
  const { ports, tenant, model, signal } = job
  const before = ports.runs.load(tenant, by)
  if (before !== undefined && before.result !== null && !resumable.includes(before.result.endReason))
    return before.result
  const task = before === undefined ? { prompt } : { resume: by }
  const agent = await ports.startAgent(
    {
      ...task,
      model,
      maxTurns: 5,
      output: outputSchema,
      ...(signal !== undefined && { signal }),
      // It has no tools at all: what it answers is checked, and written for it.
      session: {
        tenant,
        actor: run.actor,
        role: 'main',
        mode: 'plan',
        disallowedTools: ['*'],
        agent: { agentId: 'memory-extraction', runId: by },
      },
    },
    by,
  )
  return agent.result
}

interface Proposed {
  readonly job: Job
  readonly part: Part
  readonly proposals: readonly Proposal[]
  readonly by: string
}

/** What the proposals change: each fact is on its way to its file, unless it has one, or cannot be kept. */
function toChanges(
  run: KeptRun,
  { job: { ports, tenant }, part, proposals }: Proposed,
): Found & { documents: DocumentChange[] } {
  const { store, folder, redact, now } = ports
  const before = new Map(readCandidates(store, tenant).map((each) => [each.fact.id, each]))
  const documents = new Map<string, DocumentChange>()
  const facts: MemoryFact[] = []
  let leftOut = 0
  for (const { candidate, ...wish } of proposals) {
    const node = part.said.find(({ id }) => id === wish.node)
    const taken = candidate === undefined ? undefined : before.get(candidate)
    const { content, scope = 'project', tags = [] } = wish
    // A fact of a project is of no use, and none of the tenant, if the project is not known.
    const isPlaced = scope === 'tenant' || run.project !== undefined
    if (taken === undefined && (node === undefined || content === undefined || !isPlaced)) {
      leftOut++
      continue
    }
    const fact =
      taken?.fact ??
      toFact(
        { content: content ?? '', scope, tags },
        { project: run.project ?? '', source: sourceOf(run, wish.node, now()) },
      )
    const known = before.get(fact.id)
    const isOwn = known === undefined || isOf(run, known.fact) || known.state === 'taken'
    if (redact(fact.content) !== fact.content || !fact.tags.every((tag) => redact(tag) === tag) || !isOwn)
      leftOut++
    else if (documents.has(fact.id) || known?.state === 'taken' || folder.has(tenant, fact.id)) continue
    else {
      documents.set(
        fact.id,
        putCandidate(tenant, { fact: known?.fact ?? fact, state: 'taken' }, known ?? null),
      )
      facts.push(fact)
    }
  }
  return { documents: [...documents.values()], facts, leftOut }
}

/** A program that hands its session to a run may name no run of its calls. */
function isOf({ id, session }: KeptRun, { source }: MemoryFact): boolean {
  return source.run === undefined ? source.session === session : source.run === id
}

function sourceOf({ id, actor, session }: KeptRun, node: string | undefined, at: number) {
  return { by: 'extraction' as const, actor, session, run: id, ...(node !== undefined && { node }), at }
}

function readReading(store: Store, tenant: string, run: string): Reading {
  const [found] = store.documents({ tenant, kind: 'memory_extraction', group: 'runs', id: run })
  return (found?.value as unknown as Reading | undefined) ?? unread
}

const unread: Reading = { upTo: 0, current: null }

function changeReading(
  { tenant, run, was }: { tenant: string; run: string; was: Reading },
  next: Reading,
): DocumentChange {
  const value = next as unknown as Json
  return {
    tenant,
    kind: 'memory_extraction',
    group: 'runs',
    id: run,
    value,
    was: was === unread ? null : (was as unknown as Json),
  }
}
