import type { OpenRun, RunPorts } from '../agents/loop/run-state.ts'
import type { KeptRun, RunBook } from '../agents/loop/run-book.ts'
import { systemText } from '../agents/loop/system-text.ts'
import type { RunUsage, TranscriptNode } from '../contract/agent-run.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { Store } from '../contract/store.ts'
import type { ArchivedRun, RunArchive } from '../evidence/archive/create-run-archive.ts'
import type { Redactor } from '../kit/secrets/redact.ts'
import type { OnError } from './error-log.ts'
import type { TenantContexts } from './tenant-contexts.ts'

/** What of their runtime the files of runs show. */
interface Shown {
  readonly redactor: Redactor
  readonly tenants: TenantContexts
  readonly onError: OnError
}

/** Brings runs into the archive, without secrets. */
export function createRunFiles(archive: RunArchive | undefined, shown: Shown): RunPorts['kept'] {
  if (archive === undefined) return () => undefined
  /** What the model of each run was told last, as the archive has it. */
  const written = new WeakMap<OpenRun, { brief: OpenRun['brief']; system: string }>()
  const take = (run: OpenRun, nodes: readonly TranscriptNode[]): void => {
    const before = written.get(run)
    const system = systemText(run)
    const files = new Map([
      ...(before === undefined ? firstFiles(run, shown) : []),
      ...(before?.system === system ? [] : [['system-prompt.md', system] as const]),
      ...(before?.brief === run.brief ? [] : [['tools.json', toJson(run.calls.tools)] as const]),
    ])
    written.set(run, { brief: run.brief, system })
    const isWhole = before === undefined
    const { kept, ports, session } = run
    archive.run(
      toArchivedRun(
        { kept, nodes: isWhole ? run.nodes : nodes, files, isWhole },
        { redactor: shown.redactor, book: ports.book, role: session.principal.role },
      ),
    )
  }
  return (run, nodes) => {
    try {
      take(run, nodes)
    } catch (cause) {
      // The run is kept, whatever becomes of its files.
      shown.onError({ call: '', tool: '', cause })
    }
  }
}

/** So many of the newest runs of a tenant are looked at. */
const mostBehind = 100

/** Brings runs into the archive that a killed process kept and did not get there. */
export async function catchUp(
  archive: RunArchive,
  { store, book, redactor }: { store: Store; book: RunBook; redactor: Redactor },
): Promise<void> {
  for (const tenant of store.tenants())
    for (const { id } of book.list({ tenant, limit: mostBehind })) {
      const kept = book.load(tenant, id)
      if (kept === undefined || kept.prunedAt !== undefined || store.lives(kept.writer)) continue
      const known = await archive.read({ run: id, tenant })
      if (known?.['nodes'] === kept.nodes && known['state'] === kept.state) continue
      const nodes = book.transcript(id, tenant)
      const about = { kept, nodes, files: new Map(taskFiles(kept, nodes)), isWhole: true }
      archive.run(toArchivedRun(about, { redactor, book, role: roleOf(kept, book) }))
    }
}

/** The role of the session of a run. */
export function roleOf({ tenant, id }: KeptRun, book: RunBook): string {
  return book.briefs(tenant, id).at(-1)?.brief.session.role ?? 'main'
}

/** What is known of a run, as the archive has it. */
export function toArchivedRun(
  about: Pick<ArchivedRun, 'files' | 'isWhole'> & { kept: KeptRun; nodes: readonly TranscriptNode[] },
  surroundings: {
    redactor: Redactor
    book: Pick<RunBook, 'load'>
    role: string
  },
): ArchivedRun {
  const { kept, nodes, files, isWhole } = about
  const { redactor, book, role } = surroundings
  const { id: run, session, tenant, actor, startedAt } = kept
  return {
    run,
    session,
    tenant,
    actor,
    role,
    startedAt,
    endedAt: kept.state === 'ended' ? kept.ended?.at : undefined,
    facts: redactor.json(toFacts(kept, book)),
    files: new Map([...files].map(([path, text]) => [path, redactor.text(text)])),
    nodes: nodes.map((node) => redactor.json(node)),
    isWhole,
  }
}

/** What a run is told at its start, and on what it stands. */
function firstFiles(run: OpenRun, { tenants }: Shown): [path: string, text: string][] {
  const { kept, session, definition } = run
  const { context, describe } = tenants.of(session.principal.tenant)
  const { digest } = context.policy
  return [
    ...taskFiles(kept, run.nodes),
    [
      'configuration.json',
      toJson({ policy_digest: digest, policy_version: context.policyVersion, ...describe() }),
    ],
    [
      'sandbox.json',
      toJson({ sandbox: context.sandbox.describe(), project: context.project, bounds: context.bounds }),
    ],
    ...(definition === undefined ? [] : ([['definition.json', toJson(definition)]] as [string, string][])),
  ]
}

/** What the run has to do. */
export function taskFiles(
  { settings, parent }: KeptRun,
  nodes: readonly TranscriptNode[],
): [path: string, text: string][] {
  const { session: _session, ...told } = settings
  const prompt = nodes.find((node) => node.type === 'user')?.text ?? ''
  return [
    ['prompt.md', prompt],
    ['task.json', toJson({ prompt, ...told, ...(parent?.wish !== undefined && { wish: parent.wish }) })],
  ]
}

/** For `run.json`. */
function toFacts(kept: KeptRun, book: Pick<RunBook, 'load'>): JsonObject {
  const { session, parent, model, state, endReason, turns, usage, error, nodes } = kept
  return {
    session,
    parents: parentsOf(kept, book),
    definition: parent?.definition ?? null,
    model: `${model.provider}/${model.modelId}`,
    state,
    end_reason: endReason ?? null,
    turns,
    usage: toSpent(usage),
    nodes,
    error: error === undefined ? null : { code: error.code, reason: error.reason, message: error.message },
  }
}

/** The calls that it comes from, the nearest first. */
function parentsOf({ tenant, parent }: KeptRun, book: Pick<RunBook, 'load'>): JsonObject[] {
  if (parent === undefined) return []
  const { session, run, toolCallId } = parent
  const above = run === undefined ? undefined : book.load(tenant, run)
  return [
    { session, run: run ?? null, tool_call_id: toolCallId },
    ...(above === undefined ? [] : parentsOf(above, book)),
  ]
}

function toSpent({ inputTokens, cachedInputTokens, outputTokens, cost }: RunUsage): JsonObject {
  return {
    input_tokens: inputTokens,
    cached_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
    cost: cost ?? null,
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
