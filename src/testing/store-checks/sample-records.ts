import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Entry } from '../../contract/store.ts'
import { digest } from '../../kit/json/digest.ts'

/** The input of every sample call, as its begin keeps it. */
export const sampleInput = '{"path":"notes.md"}'
/** The result of every sample call, as its end keeps it. */
export const sampleResult = '{"ok":true}'

/** A begin as the pipeline writes it, with these fields changed. */
export function sampleBegin(
  call: string,
  fields: Partial<BeginRecord> = {},
): Entry & { record: BeginRecord } {
  const record: BeginRecord = {
    kind: 'begin',
    tenant: 'local',
    session: 'session_1',
    call,
    toolCallId: `provider_${call}`,
    actor: 'user',
    role: 'main',
    origin: 'llm',
    tool: 'code.read_file',
    definition: digest('definition'),
    at: 1_763_667_600_000,
    input: digest(sampleInput),
    policy: digest('policy'),
    writer: 'writer_1',
    ...fields,
  }
  return { record, body: sampleInput }
}

/** The end of a call that went well, with these fields changed. */
export function sampleEnd(call: string, fields: Partial<EndRecord> = {}): Entry & { record: EndRecord } {
  const record: EndRecord = {
    kind: 'end',
    tenant: 'local',
    session: 'session_1',
    call,
    tool: 'code.read_file',
    at: 1_763_667_600_012,
    outcome: 'ok',
    result: digest(sampleResult),
    bytesIn: sampleInput.length,
    bytesOut: sampleResult.length,
    durationMs: 12,
    ...fields,
  }
  return { record, body: sampleResult }
}
