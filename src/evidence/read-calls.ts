import { readRecord } from '../kit/result/read-record.ts'
import { isJsonObject } from '../kit/json/is-json-object.ts'
import type { BeginRecord, EndRecord, StoredRecord } from '../contract/evidence.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { Operation } from '../contract/tool/plan.ts'
import type { ToolResult } from '../contract/base/result.ts'
import { digest } from '../kit/json/digest.ts'
import { decodeResult } from '../kit/result/encode-result.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { splitBeginBody } from '../kit/result/split-begin-body.ts'

/** One of the texts that the body of a record holds. */
export type BodyPart = 'input' | 'operations' | 'result'

/** A call as the evidence has it: its records, and what is left of their bodies. */
export interface RecordedCall {
  readonly begin: BeginRecord
  /** Undefined for a call that has not ended. */
  readonly end: EndRecord | undefined
  /** In canonical form, secrets redacted. Undefined if it was not kept, was pruned, or is not a JSON object. */
  readonly input: JsonObject | undefined
  readonly inputText: string | undefined
  /** What the call planned to do; empty if nothing is known of that. */
  readonly operations: readonly Operation[]
  /** Undefined if it was pruned. */
  readonly result: ToolResult | undefined
  /** Parts of the bodies whose digest is not the one in their record. */
  readonly changed: readonly BodyPart[]
}

/** The calls of these records, in the order in which they began. Ends without their begins are left out. */
export function readCalls(records: Iterable<StoredRecord>): RecordedCall[] {
  const calls = new Map<string, { begin: StoredRecord; end: StoredRecord | undefined }>()
  for (const record of records) {
    if (record.kind === 'begin') calls.set(record.call, { begin: record, end: undefined })
    const call = record.kind === 'end' ? calls.get(record.call) : undefined
    if (call !== undefined) call.end = record
  }
  return [...calls.values()].map(({ begin, end }) => toRecordedCall(begin, end))
}

function toRecordedCall(stored: StoredRecord, storedEnd: StoredRecord | undefined): RecordedCall {
  const begin = readRecord(stored.text, 'begin')
  const end = storedEnd === undefined ? undefined : readRecord(storedEnd.text, 'end')
  const resultText = storedEnd?.body ?? undefined
  const texts = stored.body === null ? undefined : splitBeginBody(stored.body)
  const input = parse(texts?.input)
  const operations = parse(texts?.operations)
  const changed: BodyPart[] = []
  if (texts !== undefined && digest(texts.input) !== begin.input) changed.push('input')
  if (texts !== undefined && digestOf(texts.operations) !== begin.plan) changed.push('operations')
  if (resultText !== undefined && digest(resultText) !== end?.result) changed.push('result')
  return {
    begin,
    end,
    input: isJsonObject(input) ? input : undefined,
    inputText: texts?.input,
    operations: Array.isArray(operations) ? (operations as Operation[]) : [],
    result: end === undefined ? undefined : toResult(resultText, begin, end),
    changed,
  }
}

function digestOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : digest(text)
}

function toResult(text: string | undefined, begin: BeginRecord, end: EndRecord): ToolResult | undefined {
  if (text === undefined || !isPlainObject(parse(text))) return undefined
  return decodeResult(text, {
    callId: begin.call,
    toolCallId: begin.toolCallId ?? begin.call,
    tool: begin.tool,
    session: begin.session,
    durationMs: end.durationMs,
  })
}

/** Undefined for what is not JSON: a body that was changed by hand may be anything. */
function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
