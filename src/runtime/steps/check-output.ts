import { errorTable, type CallError } from '../../contract/errors.ts'
import type { Fault, Json } from '../../contract/json.ts'
import type { Artifact, ResultMetadata, ToolOutput } from '../../contract/result.ts'
import type { ToolDefinition } from '../../contract/tool.ts'
import { callError } from '../../kit/call-error.ts'
import { findUnserialisable } from '../../kit/find-unserialisable.ts'
import { jsonSize } from '../../kit/json-size.ts'
import { readUntrusted } from '../../kit/mark-untrusted.ts'
import { isToolOutput, toolOutput } from '../../kit/tool-output.ts'
import { describeMedia, hasMedia } from '../describe-media.ts'
import { findOutputFaults } from '../output-faults.ts'
import { pass, type CheckedOutput, type Output, type Ran, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { shortenContent } from '../shorten-content.ts'
import { toCallError } from '../to-call-error.ts'
import { treatmentOf, treatOutput } from '../treatments.ts'

/**
 * Step 9: what the tool gave is JSON, fits its output schema and its size, is treated as the policy obliges, and carries no
 * secrets. Long text goes to an artifact, its head and tail stay. What does not fit becomes a typed error.
 */
export function checkOutput(
  ran: Ran,
  road: Road,
): CheckedOutput | Stopped | Promise<CheckedOutput | Stopped> {
  const { definition } = ran.registered
  const given = toOutput(ran.returned)
  const bad =
    given.data === undefined ? findBadPart(given) : (findUnserialisable(given.data) ?? findBadPart(given))
  if (bad !== undefined) return fail(ran, unserialisableError(definition.name, bad))
  const treatment = treatmentOf(ran.registered, road)
  const { outputSchema } = definition
  const holdsTo = given.error === undefined && ran.aborted === undefined ? outputSchema : undefined
  const faults = findOutputFaults(holdsTo, given.data ?? null, road)
  if (faults.length > 0)
    return fail(ran, unfitError(definition.name, treatment?.faults(faults, 'output') ?? faults))
  const { maxBytesOut } = ran.allowance
  const all = measure(given)
  const size = all > maxBytesOut ? all - measureCopy(given) : all
  if (size > maxBytesOut)
    return fail(
      ran,
      callError('TOOL.FAILED', 'output_too_large', {
        message: `"${definition.name}" returned ${size} bytes; it may return ${maxBytesOut}${maxBytesOut < ran.profile.maxBytesOut ? ', which is all that its budgets leave' : ''}. Ask for less at a time.`,
      }),
    )
  const treated: Treated | CallError =
    treatment === undefined
      ? { output: given, metadata: {} }
      : treatOutput(given, ran, { road, findFaults: (data) => findOutputFaults(holdsTo, data, road) })
  if ('code' in treated) return fail(ran, treated)
  const output = clean(treated.output, road)
  const shortens = size > road.ground.limits.inlineBytes && !isKeptElsewhere(definition, output)
  if (shortens || hasMedia(output)) return finish(ran, { output, metadata: treated.metadata, shortens }, road)
  return toChecked(ran, { output, metadata: treated.metadata }, road)
}

/** Some text exists already where it came from, and some tools put the whole of their output into an artifact themselves. */
function isKeptElsewhere({ longText }: ToolDefinition, output: ToolOutput): boolean {
  return longText === 'inline' || output.content.some((block) => block.type === 'artifact_ref')
}

function unfitError(tool: string, faults: readonly Fault[]): CallError {
  const told = faults.map((fault) => `${fault.pointer || 'output'} ${fault.message}`).join('; ')
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_output', {
    message: `"${tool}" returned data that does not fit its output schema: ${told} The tool ran; its result is withheld.`,
    faults,
  })
}

function unserialisableError(tool: string, bad: Fault): CallError {
  return callError('SCHEMA.VALIDATION_FAILED', 'result_not_serialisable', {
    message: `"${tool}" returned something that is not JSON, at ${bad.pointer || 'its top'}: ${bad.message} The tool ran; its result is lost.`,
    faults: [bad],
  })
}

function fail(ran: Ran, error: CallError): Stopped {
  return { stopped: error, at: 'check-output', state: ran, begun: true }
}

/** The full form of whatever a tool returned. */
function toOutput(returned: unknown): ToolOutput {
  if (isToolOutput(returned)) return returned
  if (returned === undefined) return toolOutput({})
  if (typeof returned === 'string') return toolOutput({ content: returned, data: returned })
  const data = returned as Json
  return toolOutput({ content: [{ type: 'json', json: data }], data })
}

/** Blocks that only show the data were looked at with it. */
function findBadPart(output: ToolOutput): Fault | undefined {
  for (const block of output.content) {
    const bad = block.type === 'json' && block.json === output.data ? undefined : findUnserialisable(block)
    if (bad !== undefined) return bad
  }
  return output.metadata === undefined ? undefined : findUnserialisable(output.metadata)
}

/** Without secrets. Data that a block shows is looked at once. */
function clean(output: ToolOutput, { ground }: Road): ToolOutput {
  const { redactor } = ground
  const data = output.data === undefined ? undefined : redactor.json(output.data)
  const content = output.content.map((block) =>
    block.type === 'json' && block.json === output.data
      ? { ...block, json: data ?? null }
      : redactor.json(block),
  )
  return { ...output, content, ...(data !== undefined && { data }) }
}

/** Everything that takes its time: long text goes to an artifact, media are described. */
async function finish(
  ran: Ran,
  { output, metadata, shortens }: Treated & { shortens: boolean },
  road: Road,
): Promise<CheckedOutput | Stopped> {
  const { artifacts, limits } = road.ground
  try {
    const media = hasMedia(output) ? { media: await describeMedia(output, artifacts) } : {}
    const short = shortens
      ? await shortenContent(output, { inlineBytes: limits.inlineBytes, artifacts })
      : { output, metadata: {} }
    const all = { ...metadata, ...media, ...short.metadata }
    return toChecked(ran, { output: short.output, metadata: all }, road)
  } catch (error) {
    return fail(ran, toCallError(error, ran.registered.definition.name))
  }
}

interface Treated {
  readonly output: ToolOutput
  readonly metadata: Partial<ResultMetadata>
}

function toChecked(ran: Ran, { output: clean, metadata: known }: Treated, { ground }: Road): CheckedOutput {
  const { redactor } = ground
  const metadata = { ...known }
  if (clean.metadata !== undefined) metadata.tool = redactor.json(clean.metadata)
  const error = toError(clean, ran)
  if (error?.code === 'TOOL.TIMEOUT' || error?.code === 'TOOL.ABORTED') {
    metadata.aborted = true
    metadata.partial = clean.content.length > 0
    metadata.abortReason = ran.aborted?.reason ?? error.reason
  }
  const output: Output = {
    content: clean.content,
    data: clean.data,
    summary: redactor.text(clean.summary ?? ''),
    artifacts: clean.artifacts ?? noArtifacts,
    error,
    metadata,
  }
  return pass<CheckedOutput>(ran, { output })
}

const noArtifacts: readonly Artifact[] = []

/** About how many bytes go back, with what the tool says beside. Data that a block of JSON shows counts once. */
function measure(output: ToolOutput): number {
  let size = output.data === undefined ? 0 : jsonSize(output.data)
  for (const block of output.content) {
    if (block.type !== 'json' || block.json !== output.data) size += jsonSize(block)
  }
  return output.metadata === undefined ? size : size + jsonSize(output.metadata)
}

/** How much of that is a text that says the data once more. */
function measureCopy({ content, data }: ToolOutput): number {
  if (data === undefined) return 0
  const said = JSON.stringify(data)
  const copy = content.find(
    (block) => block.type === 'text' && (readUntrusted(block.text) ?? block.text) === said,
  )
  return copy === undefined ? 0 : jsonSize(copy)
}

/** The secrets in it are redacted with the result's. */
function toError(output: ToolOutput, ran: Ran): CallError | undefined {
  const { error } = output
  if (error === undefined) return ran.aborted?.error
  const code = error.code !== undefined && error.code in errorTable ? error.code : 'TOOL.FAILED'
  return callError(code, error.reason, {
    message: error.message,
    ...(error.data !== undefined && { data: error.data }),
  })
}
