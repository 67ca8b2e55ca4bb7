import { ToolFailure } from '../contract/base/errors.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { StoredRecord } from '../contract/evidence.ts'
import type { ToolOutput } from '../contract/base/result.ts'
import type { Store } from '../contract/store.ts'
import type { Tool, ToolSource } from '../contract/tool/tool.ts'
import { readCalls, type RecordedCall } from '../evidence/read-calls.ts'
import { toRecordedOutput } from '../evidence/to-recorded-output.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import { digest } from '../kit/json/digest.ts'
import { nearestNames } from '../kit/text/nearest-names.ts'
import { createRedactor } from '../kit/secrets/redact.ts'
import { toRecordedTools } from '../compose/replay/recorded-tools.ts'
import { shorten } from '../kit/text/shorten.ts'

/** Which recorded run answers, and from where. */
export interface CassetteOptions {
  /** A store that the run is in, such as `runtime.store`. */
  store: Pick<Store, 'records'>
  /** Id of the session. */
  session: string
  /** The secrets of the runtime that recorded the run: inputs were kept, and are matched, without them. */
  secrets?: readonly string[]
}

/** A recorded run that stands in for the world: each call gets what the same call got then. */
export interface Cassette {
  /**
   * These tools with their definitions, whose calls are answered by the recording: by tool and input, in recorded order where the
   * same input was used more than once. A call that is not part of it fails with `TOOL.FAILED / not_recorded`. They plan
   * nothing and reach nothing, so the recorded denials and failures are answers too: let the runtime of a test allow all calls.
   */
  tools(tools: readonly (Tool | ToolSource)[]): readonly (Tool | ToolSource)[]
  /** Recorded calls that the agent has not made yet, in recorded order. */
  left(): readonly { readonly tool: string; readonly input: JsonObject }[]
}

/**
 * Puts a recorded run in the place of the world, for tests of an agent. Any evidence is a recording.
 *
 * @example
 * const cassette = createCassette({ store: recorded.store, session: 'ses_…' })
 * const runtime = await createRuntime({
 *   tools: cassette.tools([codeTools()]),
 *   approve: async () => ({ decision: 'allow_once' }),
 * })
 */
export function createCassette({ store, session, secrets = [] }: CassetteOptions): Cassette {
  return toCassette(store.records({ session }), secrets)
}

function toCassette(records: Iterable<StoredRecord>, secrets: readonly string[]): Cassette {
  const redactor = createRedactor(secrets)
  const calls = readCalls(records).filter(isAnswer)
  const waiting = new Set(calls)
  const run = (tool: string, given: JsonObject): ToolOutput => {
    const text = redactor.text(canonicalJson(given))
    const input = digest(text)
    const same = calls.filter(({ begin }) => begin.tool === tool && begin.input === input)
    const next = same.find((call) => waiting.has(call))
    if (next === undefined) throw notRecorded({ tool, text, times: same.length }, calls)
    waiting.delete(next)
    if (next.result === undefined) throw pruned(next)
    return toRecordedOutput(next.result)
  }
  return {
    tools: (tools) => toRecordedTools(tools, { plan: () => ({ operations: [] }), run }),
    left: () => [...waiting].map(({ begin, input }) => ({ tool: begin.tool, input: input ?? {} })),
  }
}

/** What ended before its input was known, and what an earlier call answered for, the pipeline answers by itself. */
function isAnswer({ begin, end, result }: RecordedCall): boolean {
  return begin.input !== '' && end !== undefined && result?.metadata.replayed !== true
}

/** An input in a message. */
const shownLetters = 300

function notRecorded(
  { tool, text, times }: { tool: string; text: string; times: number },
  calls: readonly RecordedCall[],
): ToolFailure {
  const inputs = calls.flatMap(({ begin, inputText }) =>
    begin.tool === tool && inputText !== undefined ? [inputText] : [],
  )
  const near = nearestNames(text, new Set(inputs))
  const nearest = near.length > 0 ? near : [...new Set(inputs)].slice(0, 3)
  const used = [...new Set(calls.map(({ begin }) => begin.tool))]
  const asked = shorten(text, shownLetters)
  const shown = nearest.map((each) => shorten(each, shownLetters))
  const why =
    times > 0
      ? `was recorded ${times === 1 ? 'once' : `${times} times`} with ${asked}, and is called once more`
      : inputs.length > 0
        ? `was not recorded with ${asked}; nearest is ${shown.join(' and ')}`
        : `was not called in the recorded run; it called ${used.join(', ') || 'nothing'}`
  return new ToolFailure({
    reason: 'not_recorded',
    message: `"${tool}" ${why}. Make the calls that were recorded, or record the run anew.`,
    data: { tool, input: asked, nearest: shown },
  })
}

function pruned({ begin }: RecordedCall): ToolFailure {
  return new ToolFailure({
    reason: 'not_recorded',
    message: `"${begin.tool}" was recorded as the call ${begin.call}, and its result is gone: the bodies of its records were pruned. Record the run anew.`,
    data: { call: begin.call },
  })
}
