import type { CallError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolResult } from '../../contract/base/result.ts'
import { membersText } from '../json/members-text.ts'
import { renameWord } from '../names/renamed-words.ts'
import { plainSummary } from './plain-summary.ts'
import { toOutcome } from './to-outcome.ts'

/** What the records of a call say about its result already. */
export type RecordedFacts = Pick<ToolResult, 'callId' | 'toolCallId' | 'tool'> &
  Pick<ResultMetadata, 'session' | 'durationMs'>

/** A result as an end keeps it. What is not there is what `decodeResult` makes of its absence. */
interface EncodedResult {
  data?: Json
  content?: readonly ContentBlock[]
  summary?: string
  artifacts?: readonly Artifact[]
  error?: CallError
  metadata?: Partial<ResultMetadata>
}

/**
 * A result as JSON text without what its records say already, without content that only shows its data, without what is usual. `dataText` is the
 * text of its data, if that was made before.
 */
export function encodeResult(result: ToolResult, dataText?: string): string {
  const { data, content, summary, artifacts, error } = result
  const folded: EncodedResult = {}
  if (data !== undefined && dataText === undefined) folded.data = data
  if (!onlyShows(data, content)) folded.content = content
  if (summary !== plainSummary(result.tool, error)) folded.summary = summary
  if (artifacts.length > 0) folded.artifacts = artifacts
  if (error !== undefined) folded.error = error
  if (saysMore(result.metadata)) folded.metadata = withoutRecorded(result.metadata)
  return dataText === undefined ? JSON.stringify(folded) : `{"data":${dataText}${membersText(folded)}}`
}

function withoutRecorded({
  session: _session,
  durationMs: _durationMs,
  ...metadata
}: ResultMetadata): Partial<ResultMetadata> {
  return metadata
}

/** The result that was folded. Throws if the text is not JSON. */
export function decodeResult(text: string, about: RecordedFacts): ToolResult {
  // The text was made above, and its digest stands in the record of the end.
  const { data, content, summary, artifacts, error, metadata } = JSON.parse(text) as EncodedResult
  if (error !== undefined) renameWord(error, 'reason')
  const result: ToolResult = {
    callId: about.callId,
    toolCallId: about.toolCallId,
    tool: about.tool,
    ok: error === undefined,
    outcome: toOutcome(error),
    content: content ?? show(data),
    summary: summary ?? plainSummary(about.tool, error),
    artifacts: artifacts ?? [],
    metadata: { session: about.session, durationMs: about.durationMs, ...metadata },
  }
  if (data !== undefined) result.data = data
  if (error !== undefined) result.error = error
  return result
}

/** The content of a tool that gave data and nothing else. */
function show(data: Json | undefined): ContentBlock[] {
  if (data === undefined) return []
  return typeof data === 'string' ? [{ type: 'text', text: data }] : [{ type: 'json', json: data }]
}

function onlyShows(data: Json | undefined, content: readonly ContentBlock[]): boolean {
  const [block] = content
  if (content.length !== 1 || block === undefined) return content.length === 0 && data === undefined
  if (typeof data === 'string') return block.type === 'text' && block.text === data
  return data !== undefined && block.type === 'json' && block.json === data
}

/** More than the records of the call. */
function saysMore(metadata: ResultMetadata): boolean {
  for (const name in metadata) if (name !== 'session' && name !== 'durationMs') return true
  return false
}
