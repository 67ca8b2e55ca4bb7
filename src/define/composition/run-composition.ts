import { ToolFailure } from '../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { ToolOutput, ToolResult } from '../../contract/base/result.ts'
import type { PartCalls } from '../../contract/tool/part-calls.ts'
import type { ToolContext } from '../../contract/tool/tool.ts'
import { resultText } from '../../kit/result/to-wire-result.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import type { ComposedPart, Composition } from './composed-parts.ts'
import type { PlannedComposition } from './plan-composition.ts'
import { fillInput, fillTemplate } from './template.ts'

/** So many parts that only read run beside each other. */
const together = 10

interface Run {
  readonly composition: Composition
  readonly calls: PartCalls
  readonly planned: PlannedComposition
  /** The input, and what parts returned. */
  readonly sources: Map<string, Json>
  /** Of parts that ran, in the order in which they ended. */
  readonly results: Map<string, ToolResult>
}

/** Calls the parts: those that only read beside each other, one that writes alone. Ends with the first that does not succeed. */
export async function runComposition(
  composition: Composition,
  input: JsonObject,
  { parts: calls, planned, signal, progress }: Pick<ToolContext, 'parts' | 'planned' | 'signal' | 'progress'>,
): Promise<ToolOutput> {
  if (calls === undefined) throw new Error('A composition needs the service "parts".')
  const run: Run = {
    composition,
    calls,
    planned: planned as PlannedComposition,
    sources: new Map([['input', input]]),
    results: new Map(),
  }
  calls.reserve(composition.parts.map(({ part, definition }) => ({ part, tool: definition.name })))
  const total = composition.parts.length
  for (let next = nextParts(run); next.length > 0; next = nextParts(run)) {
    if (signal.aborted) throw stopped(run)
    progress({ message: `runs ${next.map(({ part }) => part).join(', ')}`, done: run.results.size, total })
    const wishes = next.map((part) => toWish(part, run))
    const ended = await Promise.all(
      wishes.map(async ({ part, wish }) => ({ part, result: await calls.call(wish) })),
    )
    for (const { part, result } of ended) take(part, result, run)
    const failed = ended.find(({ result }) => !result.ok)
    if (failed !== undefined) throw toFailure(failed.part, failed.result, run)
    const withheld = ended.find(({ result }) => result.metadata.withheld !== undefined)
    if (withheld !== undefined) throw noData(withheld.part, withheld.result, run)
  }
  return toOutput(run)
}

/** The parts that come next: reads that wait for nothing more, or one write. */
function nextParts({ composition, results, calls }: Run): ComposedPart[] {
  const ready = composition.parts.filter(
    ({ part, after }) => !results.has(part) && after.every((each) => results.has(each)),
  )
  const reads = ready.filter(
    ({ definition }) => (calls.definition(definition.name) ?? definition).permission === 'readonly',
  )
  return reads.length > 0 ? reads.slice(0, together) : ready.slice(0, 1)
}

function toWish(part: ComposedPart, run: Run) {
  const input = fillInput(part.input, run.sources)
  if (input === undefined) throw noInput(part.part, run)
  const seen = run.planned.seen.get(part.part)
  return { part, wish: { part: part.part, tool: part.definition.name, input, seen } }
}

/** Keeps what a part returned for those that come after it: what every caller gets of it. */
function take({ part }: ComposedPart, result: ToolResult, { results, sources }: Run): void {
  results.set(part, result)
  if (result.ok) sources.set(part, result.data ?? resultText(result))
}

function toOutput(run: Run): ToolOutput {
  const { composition, sources, results } = run
  const data = fillTemplate(composition.output, sources) ?? null
  return toolOutput({
    content: typeof data === 'string' ? data : JSON.stringify(data),
    data,
    summary: `${composition.name}: ${results.size} parts ran`,
    metadata: { parts: describeParts(run) },
  })
}

/** What became of each part, in the order of the composition. */
function describeParts({ composition, results }: Run): JsonObject[] {
  return composition.parts.map(({ part, definition }) => {
    const result = results.get(part)
    return {
      part,
      tool: definition.name,
      ...(result === undefined ? { outcome: 'not_run' } : { outcome: result.outcome, call: result.callId }),
    }
  })
}

function toFailure({ part, definition }: ComposedPart, result: ToolResult, run: Run): ToolFailure {
  const { code = 'TOOL.FAILED', reason = 'failed', message = '', issues, data } = result.error ?? {}
  const about = { part, tool: definition.name, call: result.callId, parts: describeParts(run) }
  if (result.outcome === 'waiting')
    return new ToolFailure({
      code: 'POLICY.APPROVAL_PENDING',
      reason: 'waiting',
      message: `The part "${part}" waits for a person. ${tellParts(run)} The rest goes on when the call is made again with their answer.`,
      data: { ...data, ...about },
    })
  const ended =
    result.outcome === 'aborted' ? { code: 'TOOL.ABORTED' as const, reason } : { reason: 'part_failed' }
  return new ToolFailure({
    ...ended,
    message: `The part "${part}" (${definition.name}) did not succeed: ${message} ${tellParts(run)}`,
    ...(issues !== undefined && { issues }),
    data: { ...about, code, reason },
  })
}

function stopped(run: Run): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: `"${run.composition.name}" was aborted between two parts. ${tellParts(run)}`,
    data: { parts: describeParts(run) },
  })
}

function noInput(part: string, run: Run): ToolFailure {
  return new ToolFailure({
    reason: 'part_failed',
    message: `The part "${part}" has no input: what it is taken from is not there, or is not an object. ${tellParts(run)}`,
    data: { part, parts: describeParts(run) },
  })
}

function noData({ part, definition }: ComposedPart, { callId, metadata }: ToolResult, run: Run): ToolFailure {
  return new ToolFailure({
    reason: 'part_failed',
    message: `The part "${part}" (${definition.name}) ran, and its data cannot go on: ${metadata.withheld ?? ''}. ${tellParts(run)}`,
    data: { part, tool: definition.name, call: callId, parts: describeParts(run) },
  })
}

function tellParts({ composition, results }: Run): string {
  const ran = composition.parts.filter(({ part }) => results.get(part)?.ok === true)
  const rest = composition.parts.filter(({ part }) => !results.has(part))
  const list = (parts: readonly ComposedPart[]) => parts.map(({ part }) => `"${part}"`).join(', ')
  return `${ran.length === 0 ? 'No part ran.' : `Ran, and stands: ${list(ran)}.`}${rest.length === 0 ? '' : ` Did not run: ${list(rest)}.`}`
}
