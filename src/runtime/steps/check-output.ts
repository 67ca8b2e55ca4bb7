import type { CallError } from '../../contract/errors.ts'
import type { Fault, Json } from '../../contract/json.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolOutput } from '../../contract/result.ts'
import { callError } from '../../kit/call-error.ts'
import { findUnserialisable } from '../../kit/find-unserialisable.ts'
import { isToolOutput, toolOutput } from '../../kit/tool-output.ts'
import { errorTable } from '../../contract/errors.ts'
import { pass, type CheckedOutput, type Output, type Ran, type Stopped } from '../passage.ts'
import type { Road } from '../road.ts'
import { shortenText } from '../shorten-text.ts'
import { toCallError } from '../to-call-error.ts'

/**
 * Step 9: what the tool gave is JSON, fits its output schema and its size, and carries no secrets. Long text goes to an
 * artifact, its head and tail stay. What does not fit becomes a typed error.
 */
export async function checkOutput(ran: Ran, road: Road): Promise<CheckedOutput | Stopped> {
  const { definition } = ran.registered
  const output = toOutput(ran.returned)
  const bad =
    output.data === undefined ? findBadPart(output) : (findUnserialisable(output.data) ?? findBadPart(output))
  if (bad !== undefined)
    return fail(
      ran,
      callError('SCHEMA.VALIDATION_FAILED', 'result_not_serialisable', {
        message: `"${definition.name}" returned something that is not JSON, at ${bad.pointer || 'its top'}: ${bad.message} The tool ran; its result is lost.`,
        faults: [bad],
      }),
    )

  if (definition.outputSchema !== undefined && output.error === undefined && ran.aborted === undefined) {
    const checked = road.ground.checker.check(definition.outputSchema, output.data ?? null)
    if (!checked.ok)
      return fail(
        ran,
        callError('SCHEMA.VALIDATION_FAILED', 'invalid_output', {
          message: `"${definition.name}" returned data that does not fit its output schema. The tool ran; its result is withheld.`,
          faults: checked.faults,
        }),
      )
  }
  try {
    return await bound(ran, output, road)
  } catch (error) {
    return fail(ran, toCallError(error, definition.name))
  }
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

/** Redacts, and keeps what goes back within its size. */
async function bound(ran: Ran, given: ToolOutput, road: Road): Promise<CheckedOutput | Stopped> {
  const { redactor, artifacts, limits } = road.ground
  const { definition } = ran.registered
  const maxBytes = Math.min(ran.profile.maxBytesOut, limits.maxBytesOut)
  const size = measure(given)
  if (size > maxBytes)
    return fail(
      ran,
      callError('TOOL.FAILED', 'output_too_large', {
        message: `"${definition.name}" returned ${size} bytes; it may return ${maxBytes}. Ask for less at a time.`,
      }),
    )

  const metadata: Partial<ResultMetadata> = {}
  const kept: Artifact[] = [...(given.artifacts ?? [])]
  const content: ContentBlock[] = []
  for (const block of redactor.json(given.content)) {
    const text =
      block.type === 'text' ? block.text : block.type === 'json' ? JSON.stringify(block.json) : undefined
    if (text === undefined || definition.name === 'code.read_file' || text.length <= limits.inlineBytes) {
      content.push(block)
      continue
    }
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
    metadata.truncated = { bytes: bytes.length, shownBytes: short.shownBytes }
  }
  if (given.metadata !== undefined) metadata.tool = redactor.json(given.metadata)
  if (ran.aborted !== undefined)
    Object.assign(metadata, { aborted: true, partial: content.length > 0, abortReason: ran.aborted.reason })
  const error = toError(given, ran, (text) => redactor.text(text))
  const output: Output = {
    content,
    data: given.data === undefined ? undefined : redactor.json(given.data),
    summary: redactor.text(given.summary ?? ''),
    artifacts: kept,
    error,
    metadata,
  }
  return pass<CheckedOutput>(ran, { output })
}

function measure(output: ToolOutput): number {
  let size = 0
  for (const block of output.content) {
    if (block.type === 'text') size += block.text.length
    else if (block.type === 'json') size += block.json === output.data ? 0 : JSON.stringify(block.json).length
    else if (block.type === 'image') size += block.data.length
    else if (block.type === 'resource') size += block.text?.length ?? 0
  }
  const { data } = output
  if (data === undefined || data === null) return size
  return (
    size +
    (typeof data === 'string' ? data.length : typeof data === 'object' ? JSON.stringify(data).length : 8)
  )
}

function toError(output: ToolOutput, ran: Ran, redact: (text: string) => string): CallError | undefined {
  const { error } = output
  if (error === undefined) return ran.aborted?.error
  const code = error.code !== undefined && error.code in errorTable ? error.code : 'TOOL.FAILED'
  return callError(code, error.reason, {
    message: redact(error.message),
    ...(error.data !== undefined && { data: error.data }),
  })
}
