import type { RunResult, TranscriptNode } from '../../contract/agent-run.ts'
import type { NoteRecord } from '../../contract/evidence.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import type { OpenRun } from './run-state.ts'

/** The note that a run starts, or goes on. */
export function toStartNote(
  run: OpenRun,
  { resumed, countsFrom }: { resumed: boolean; countsFrom: number },
): NoteRecord {
  const { kept } = run
  const { parent, model, settings, nodes } = kept
  const name = `${model.provider}/${model.modelId}`
  return toNote(run, {
    event: 'run_started',
    message: `The run ${run.id} ${resumed ? 'goes on' : 'starts'} with the model ${name}.`,
    data: {
      run: run.id,
      model: name,
      resumed,
      node: nodes,
      counts_from: countsFrom,
      ...(settings.maxTurns !== undefined && { max_turns: settings.maxTurns }),
      ...(settings.contextTokens !== undefined && { context_tokens: settings.contextTokens }),
      ...(parent !== undefined && { parent_session: parent.session, tool_call_id: parent.toolCallId }),
      ...(parent?.run !== undefined && { parent_run: parent.run }),
      ...(parent?.definition !== undefined && { definition: parent.definition }),
    },
  })
}

/** The note that a run has ended: why, what it took, and a digest of its conversation. */
export function toEndNote(run: OpenRun, result: Omit<RunResult, 'waiting'>): NoteRecord {
  const { kept, nodes, ports } = run
  const { endReason, turns, usage, error } = result
  return toNote(run, {
    event: 'run_ended',
    message: `The run ${run.id} ended with ${endReason} after ${turns} ${turns === 1 ? 'turn' : 'turns'}.`,
    data: {
      run: run.id,
      node: kept.nodes,
      end_reason: endReason,
      turns,
      input_tokens: usage.inputTokens,
      cached_input_tokens: usage.cachedInputTokens,
      output_tokens: usage.outputTokens,
      ...(usage.cost !== undefined && { cost: usage.cost }),
      ...(error !== undefined && { code: error.code, reason: error.reason }),
      transcript: digestOfNodes(nodes, ports.store),
    },
  })
}

/** Names a conversation; keyed, so that a reader of the evidence cannot try out what was said. */
export function digestOfNodes(
  nodes: readonly TranscriptNode[],
  store: { digest(text: string): string },
): string {
  return store.digest(nodes.map((node) => canonicalJson(node)).join('\n'))
}

function toNote(
  { session, ports }: OpenRun,
  about: Pick<NoteRecord, 'event' | 'message' | 'data'>,
): NoteRecord {
  const { tenant, actor } = session.principal
  return { kind: 'note', tenant, session: session.id, at: ports.now(), actor, ...about }
}
