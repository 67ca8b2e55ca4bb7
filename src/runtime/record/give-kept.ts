import type { CallError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { ContentBlock, ResultMetadata, ToolOutput, ToolResult } from '../../contract/base/result.ts'
import { toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { callError } from '../../kit/result/call-error.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import type { CallScope } from '../state/scope.ts'
import { findOutputIssues } from '../output/output-issues.ts'
import { halt, type Approved, type KeptCall, type Replayed, type Halted } from '../state/call-state.ts'
import { redactError, redactorOf, treatmentOf, treatOutput } from './treatments.ts'

/**
 * A kept result as it may leave by now, under the ids of the call that asks for it: the definition may want another form than when it was
 * kept, the policy may oblige to more, and more secrets may be known.
 */
export function giveKept(kept: KeptCall, state: Approved, scope: CallScope): Replayed | Halted {
  const result = unfold(kept, state)
  const issues = findIssues(kept, { result, state, scope })
  if (issues.length > 0) return halt('admit', state, unfitError(kept, state, issues))
  const treated = treat(mayBeWhole(kept, state, scope) ? result : withoutArtifacts(result), state, scope)
  return 'code' in treated ? halt('admit', state, treated) : { replayed: treated, state }
}

/** An artifact is kept as it was treated when its call ended. It goes on only under the policy of that call, or if nothing is owed. */
function mayBeWhole({ begin }: KeptCall, { registered }: Approved, scope: CallScope): boolean {
  return begin.policy === scope.tenant.policy.digest || treatmentOf(registered, scope) === undefined
}

function withoutArtifacts(result: ToolResult): ToolResult {
  if (result.artifacts.length === 0) return result
  const content = result.content.filter(({ type }) => type !== 'artifact_ref')
  return { ...result, content: [...content, artifactsWithheld], artifacts: [] }
}

const artifactsWithheld: ContentBlock = {
  type: 'text',
  text: '[Its artifacts are withheld: the policy obliges to treat results of this tool, and changed since they were kept. Use a new key to make the call anew.]',
}

/** Its artifacts are those of the call of now too: under the id of the earlier one another role may not read them. */
function unfold({ begin, result }: KeptCall, { call, registered }: Approved): ToolResult {
  const { id: callId, toolCallId, session } = call
  const tool = registered.definition.name
  const text = result.replaceAll(toPlace(begin.call), toPlace(callId))
  return decodeResult(text, { callId, toolCallId, tool, session, durationMs: 0 })
}

/** Where the artifacts of a call are. */
function toPlace(call: string): string {
  return toArtifactUri({ call, digest: '' })
}

/** What fitted once, and was redacted since, is held to a schema only if that is another one by now. */
function findIssues(
  { begin }: KeptCall,
  { result, state, scope }: { result: ToolResult; state: Approved; scope: CallScope },
): readonly Issue[] {
  const { definition, digest } = state.registered
  const isSame = begin.definition === `${definition.version} ${digest}`
  if (isSame || result.error !== undefined || result.metadata.withheld !== undefined) return []
  const issues = findOutputIssues(definition.outputSchema, result.data ?? null, scope)
  return treatmentOf(state.registered, scope)?.issues(issues, 'output') ?? issues
}

function unfitError({ begin }: KeptCall, { registered }: Approved, issues: readonly Issue[]): CallError {
  const told = issues.map((issue) => `${issue.pointer || 'output'} ${issue.message}`).join('; ')
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_output', {
    message: `The result of the earlier call ${begin.call} with this key does not fit the output schema that "${registered.definition.name}" has by now: ${told} It is withheld, and nothing was done again. Use a new key to make the call anew.`,
    issues,
  })
}

function treat(kept: ToolResult, state: Approved, scope: CallScope): ToolResult | CallError {
  const { error } = kept
  const schema = error === undefined ? state.registered.definition.outputSchema : undefined
  const treated = treatOutput(toOutput(kept), state, {
    scope,
    findIssues: (data) => findOutputIssues(schema, data, scope),
  })
  if ('code' in treated) return treated
  const { redactor } = scope.tenant
  const { content, data, summary = kept.summary, artifacts = kept.artifacts } = redactor.json(treated.output)
  const all = redactorOf(state.registered, scope)
  const metadata: ResultMetadata = { ...kept.metadata, ...treated.metadata }
  if (metadata.tool !== undefined) metadata.tool = all.json(metadata.tool)
  const { data: _, ...rest } = kept
  const given: ToolResult = { ...rest, content, summary, artifacts, metadata }
  if (data !== undefined) given.data = data
  if (error !== undefined) given.error = redactError(error, all)
  return given
}

/** What an obligation added is left out: an obligation that still holds adds it anew. */
function toOutput({ content, summary, artifacts, data, metadata }: ToolResult): ToolOutput {
  const { watermark } = metadata
  return toolOutput({
    content: watermark === undefined ? content : withoutLast(content, watermark),
    summary,
    artifacts,
    ...(data !== undefined && { data }),
  })
}

function withoutLast(content: readonly ContentBlock[], text: string): readonly ContentBlock[] {
  const last = content.at(-1)
  return last?.type === 'text' && last.text === text ? content.slice(0, -1) : content
}
