import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Outcome, ToolResult } from '../../contract/base/result.ts'
import { logLevel } from '../../kit/result/log-level.ts'

/** One call in a run archive, as one line of `logs/tools.jsonl`. */
export interface ToolRecord {
  call_id: string
  tool_call_id: string
  tool_name: string
  /** The last part of the tool's name. */
  action: string
  /** ISO 8601, UTC. */
  started_at: string
  completed_at: string
  duration_ms: number
  /** `started` for a call whose end is not known. */
  status: 'started' | 'completed' | 'failed' | 'blocked'
  /** The input as JSON text, secrets redacted, shortened. */
  args_summary: string
  result_summary: string
  /** Digests. */
  artifacts: readonly string[]
  error: { code: string; reason: string; message: string } | null
}

/** The same call in `logs/errors.jsonl`, where it did not succeed. */
export interface ErrorRecord extends ToolRecord {
  level: 'failure' | 'fault'
}

/** A finished call as the archive keeps it. */
export interface FinishedCall {
  begin: BeginRecord
  /** JSON text of the redacted input. */
  input: string | null
  end: EndRecord
  result: ToolResult
}

const statusOf: { readonly [outcome in Outcome]: ToolRecord['status'] } = {
  ok: 'completed',
  denied: 'blocked',
  waiting: 'blocked',
  failed: 'failed',
  aborted: 'failed',
  unknown: 'started',
}

/** Characters of an input that are shown. */
const summaryLength = 200

/** The line of a call in `logs/tools.jsonl`. */
export function toToolRecord({ begin, input, end, result }: FinishedCall): ToolRecord {
  const { error } = result
  return {
    call_id: begin.call,
    tool_call_id: begin.toolCallId ?? begin.call,
    tool_name: begin.tool,
    action: begin.tool.slice(begin.tool.lastIndexOf('.') + 1),
    started_at: new Date(begin.at).toISOString(),
    completed_at: new Date(end.at).toISOString(),
    duration_ms: end.durationMs,
    status: statusOf[end.outcome],
    args_summary: shorten(input ?? ''),
    result_summary: result.summary,
    artifacts: result.artifacts.map(({ digest }) => digest),
    error: error === undefined ? null : { code: error.code, reason: error.reason, message: error.message },
  }
}

/** The line of a call in `logs/errors.jsonl`; undefined for one that went well (EVID-6). */
export function toErrorRecord(call: FinishedCall): ErrorRecord | undefined {
  const level = logLevel(call.result)
  return level === 'info' ? undefined : { level, ...toToolRecord(call) }
}

/** An artifact that a call made, as one line of `artifacts.jsonl`. */
export interface ArtifactRecord {
  digest: string
  bytes: number
  mime_type: string
  call_id: string
  tool_name: string
}

/** The lines of a call in `artifacts.jsonl`. */
export function toArtifactRecords({ begin, result }: FinishedCall): ArtifactRecord[] {
  return result.artifacts.map(({ digest, bytes, mimeType: mime_type }) => ({
    digest,
    bytes,
    mime_type,
    call_id: begin.call,
    tool_name: begin.tool,
  }))
}

/** Never cuts a letter in two. */
function shorten(text: string): string {
  if (text.length <= summaryLength) return text
  return `${text
    .slice(0, summaryLength - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}
