import type { CallError } from '../../contract/errors.ts'
import type { Fault, Json } from '../../contract/json.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolOutput } from '../../contract/result.ts'
import { callError } from '../../kit/call-error.ts'
import { findUnserialisable } from '../../kit/find-unserialisable.ts'
import { jsonSize } from '../../kit/json-size.ts'
import { isToolOutput, toolOutput } from '../../kit/tool-output.ts'
import { errorTable } from '../../contract/errors.ts'
import { pass, type CheckedOutput, type Output, type Ran, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { shortenText } from '../shorten-text.ts'
import { toCallError } from '../to-call-error.ts'

/**
 * Step 9: what the tool gave is JSON, fits its output schema and its size, and carries no secrets. Long text goes to an
 * artifact, its head and tail stay. What does not fit becomes a typed error.
 */
export function checkOutput(
  ran: Ran,
  road: Road,
): CheckedOutput | Stopped | Promise<CheckedOutput | Stopped> {
  const { definition } = ran.registered
  const output = toOutput(ran.returned)
  const bad =
    output.data === undefined ? findBadPart(output) : (findUnserialisable(output.data) ?? findBadPart(output))
  if (bad !== undefined) return fail(ran, unserialisableError(definition.name, bad))
  if (definition.outputSchema !== undefined && output.error === undefined && ran.aborted === undefined) {
    const checked = road.ground.checker.check(definition.outputSchema, output.data ?? null)
    if (!checked.ok)
      return fail(
        ran,
        callError('SCHEMA.VALIDATION_FAILED', 'invalid_output', {
          message: `"${definition.name}" returned data that does not fit its output schema: ${checked.faults.map((fault) => `${fault.pointer || 'output'} ${fault.message}`).join('; ')} The tool ran; its result is withheld.`,
          faults: checked.faults,
        }),
      )
  }
  const { maxBytesOut } = ran.allowance
  const size = measure(output)
  if (size > maxBytesOut)
    return fail(
      ran,
      callError('TOOL.FAILED', 'output_too_large', {
        message: `"${definition.name}" returned ${size} bytes; it may return ${maxBytesOut}. Ask for less at a time.`,
      }),
    )
  const shortens = size > road.ground.limits.inlineBytes && !isKeptElsewhere(definition.name, output)
  return shortens ? shorten(ran, output, road) : toChecked(ran, clean(output, road), { road })
}

/** A file that was read exists already, and some tools put the whole of their output into an artifact themselves. */
function isKeptElsewhere(tool: string, output: ToolOutput): boolean {
  return tool === 'code.read_file' || output.content.some((block) => block.type === 'artifact_ref')
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

/** Long text goes to an artifact; its head and tail stay. */
async function shorten(ran: Ran, given: ToolOutput, road: Road): Promise<CheckedOutput | Stopped> {
  const { artifacts, limits } = road.ground
  const output = clean(given, road)
  const kept: Artifact[] = [...(output.artifacts ?? [])]
  const content: ContentBlock[] = []
  let truncated: ResultMetadata['truncated']
  try {
    for (const block of output.content) {
      const text =
        block.type === 'text' ? block.text : block.type === 'json' ? JSON.stringify(block.json) : ''
      const bytes = Buffer.from(text)
      if (bytes.length <= limits.inlineBytes) {
        content.push(block)
        continue
      }
      const artifact = await artifacts.put(bytes, {
        mimeType: block.type === 'json' ? 'application/json' : 'text/plain',
      })
      const short = shortenText(text, limits.inlineBytes)
      kept.push(artifact)
      content.push(
        { type: 'text', text: short.text },
        { type: 'artifact_ref', artifact, note: 'the whole output' },
      )
      truncated = { bytes: bytes.length, shownBytes: short.shownBytes }
    }
  } catch (error) {
    return fail(ran, toCallError(error, ran.registered.definition.name))
  }
  return toChecked(ran, { ...output, content, artifacts: kept }, { road, truncated })
}

function toChecked(
  ran: Ran,
  clean: ToolOutput,
  { road, truncated }: { road: Road; truncated?: ResultMetadata['truncated'] },
): CheckedOutput {
  const { redactor } = road.ground
  const metadata: Partial<ResultMetadata> = {}
  if (truncated !== undefined) metadata.truncated = truncated
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

/** About how many bytes go back. Data that a block shows counts once. */
function measure(output: ToolOutput): number {
  let size = output.data === undefined ? 0 : jsonSize(output.data)
  for (const block of output.content) {
    if (block.type !== 'json' || block.json !== output.data) size += jsonSize(block)
  }
  return size
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
