import type { ResultMetadata, ToolResult } from '../contract/result.ts'
import { toolOutput } from '../kit/tool-output.ts'
import { findOutputFaults } from './output-faults.ts'
import type { Road } from './ground.ts'
import { stop, type Authorised, type Replayed, type Stopped } from './passage.ts'
import { redactError, redactorOf, treatmentOf, treatOutput } from './treatments.ts'

/** A kept result as it may leave by now: the policy may oblige to more than when it was kept. */
export function treatKept(kept: ToolResult, state: Authorised, road: Road): Replayed | Stopped {
  if (treatmentOf(state.registered, road) === undefined) return { replayed: kept, state }
  const { content, summary, artifacts, error } = kept
  const outputSchema = error === undefined ? state.registered.definition.outputSchema : undefined
  const treated = treatOutput(
    toolOutput({ content, summary, artifacts, ...(kept.data !== undefined && { data: kept.data }) }),
    state,
    { road, findFaults: (data) => findOutputFaults(outputSchema, data, road) },
  )
  if ('code' in treated) return stop('admit', state, treated)
  const { output } = treated
  const redactor = redactorOf(state.registered, road)
  const metadata: ResultMetadata = { ...kept.metadata, ...treated.metadata }
  if (metadata.tool !== undefined) metadata.tool = redactor.json(metadata.tool)
  const { data: _data, ...rest } = kept
  const replayed: ToolResult = { ...rest, content: output.content, metadata }
  if (output.summary !== undefined) replayed.summary = output.summary
  if (output.artifacts !== undefined) replayed.artifacts = output.artifacts
  if (output.data !== undefined) replayed.data = output.data
  if (error !== undefined) replayed.error = redactError(error, redactor)
  return { replayed, state }
}
