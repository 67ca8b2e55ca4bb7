import type { CallError } from '../../../contract/base/errors.ts'
import type { Issue } from '../../../contract/base/json.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolOutput } from '../../../contract/base/result.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { jsonSize } from '../../../kit/json/json-size.ts'
import { listIssues } from '../../../kit/json/list-issues.ts'
import { readUntrusted } from '../../../kit/text/mark-untrusted.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { describeMedia, hasMedia } from '../../output/describe-media.ts'
import { fitOutput } from '../../output/fit-output.ts'
import { keepWholes } from '../../output/keep-wholes.ts'
import { exceedsMedia, limitMedia } from '../../output/limit-media.ts'
import { findOutputIssues } from '../../output/output-issues.ts'
import { advance } from '../../state/advance.ts'
import { type CheckedOutput, type Output, type Ran, type Halted } from '../../state/call-state.ts'
import { readOutput, type Malformed } from '../../output/read-output.ts'
import type { CallScope } from '../../state/scope.ts'
import { toCallError } from '../../state/to-call-error.ts'
import { treatmentOf, treatOutput } from '../../record/treatments.ts'

/**
 * Step 9: what the tool gave is a result as JSON carries it, fits its output schema and its size, is treated as the policy obliges, and
 * carries no secrets. From here on it is a copy: whatever the tool does to its own later changes nothing. Long text goes to an artifact,
 * its head and tail stay. What does not fit becomes a typed error.
 */
export function checkOutput(
  ran: Ran,
  scope: CallScope,
): CheckedOutput | Halted | Promise<CheckedOutput | Halted> {
  const { definition } = ran.registered
  const read = readOutput(ran.returned)
  if ('issues' in read) return fail(ran, ran.aborted?.error ?? malformedError(definition.name, read))
  const { maxBytesOut } = ran.allowance
  const size = read.size > maxBytesOut ? read.size - measureCopy(read.output) : read.size
  const fitting = size > maxBytesOut ? justError(read.output) : read.output
  if (fitting === undefined) return fail(ran, tooLargeError(ran, size))
  const given = encode(fitting, ran)
  if ('halted' in given) return given
  const treatment = treatmentOf(ran.registered, scope)
  const { segment } = ran.partOf ?? {}
  const outputSchema = segment === undefined ? definition.outputSchema : segment.outputSchema()
  const holdsTo = given.error === undefined && ran.aborted === undefined ? outputSchema : undefined
  const issues = findOutputIssues(holdsTo, given.data ?? null, scope)
  if (issues.length > 0)
    return fail(ran, unfitError(definition.name, treatment?.issues(issues, 'output') ?? issues))
  const treated: Treated | CallError =
    treatment === undefined
      ? { output: given, metadata: {} }
      : treatOutput(given, ran, { scope, findIssues: (data) => findOutputIssues(holdsTo, data, scope) })
  if ('code' in treated) return fail(ran, treated)
  const dataText =
    treatment === undefined && ran.aborted === undefined ? findCleanText(given, size, scope) : undefined
  if (dataText !== undefined) return advance['check-output'](ran, { output: toPlain(given, dataText) })
  const output = clean(treated.output, scope)
  if (size > scope.tenant.limits.inlineBytes || hasMedia(output))
    return finish(ran, { output, metadata: treated.metadata }, scope)
  return toChecked(ran, { output, metadata: treated.metadata })
}

/** The text of the data of a tool that gave nothing else, if that fits and no secret can be in it: one look finds nearly all results. */
function findCleanText(output: ToolOutput, size: number, { tenant }: CallScope): string | undefined {
  const { data, content, summary, artifacts, error, metadata } = output
  const block = content[0]
  const showsData = content.length === 1 && block?.type === 'json' && block.json === data
  if (data === undefined || !showsData || size > tenant.limits.inlineBytes) return undefined
  if ((summary ?? artifacts ?? error ?? metadata) !== undefined) return undefined
  const text = JSON.stringify(data)
  return tenant.redactor.mayHold(text) ? undefined : text
}

function toPlain({ content, data }: ToolOutput, dataText: string): Output {
  return { content, data, dataText, summary: '', artifacts: noArtifacts, error: undefined, metadata: {} }
}

/** With its data as the tool wants it to go back. */
function encode(output: ToolOutput, ran: Ran): ToolOutput | Halted {
  const { tool, definition } = ran.registered
  const { data, content } = output
  if (tool.encode === undefined || data === undefined) return output
  const partial = output.error !== undefined || ran.aborted !== undefined
  try {
    const encoded = tool.encode(copyJson(data), { partial })
    const blocks = content.map((block) =>
      block.type === 'json' && block.json === data ? { ...block, json: encoded } : block,
    )
    return { ...output, content: blocks, data: encoded }
  } catch (error) {
    const { message, issues } = toCallError(error, definition.name)
    return fail(ran, unfitError(definition.name, issues ?? [{ pointer: '', code: 'does_not_fit', message }]))
  }
}

/** What is left of an output that is too large: the error of the tool, if it failed. */
function justError({ error }: ToolOutput): ToolOutput | undefined {
  return error && toolOutput({ error })
}

function unfitError(tool: string, issues: readonly Issue[]): CallError {
  const told = listIssues(issues, 'output')
  return callError('SCHEMA.VALIDATION_FAILED', 'invalid_output', {
    message: `"${tool}" returned data that does not fit its output schema: ${told} The tool ran, and what it did stands; its result is withheld. Tell the developer of the tool.`,
    issues,
  })
}

function tooLargeError({ registered, profile, allowance }: Ran, size: number): CallError {
  const { maxBytesOut } = allowance
  const why = maxBytesOut < profile.maxBytesOut ? ', which is all that its budgets leave' : ''
  return callError('TOOL.FAILED', 'output_too_large', {
    message: `"${registered.definition.name}" returned ${size} bytes; it may return ${maxBytesOut}${why}. Ask for less at a time.`,
  })
}

function malformedError(tool: string, { reason, issues }: Malformed): CallError {
  const told = listIssues(issues, 'The whole of it')
  const what =
    reason === 'invalid_output' ? 'a result of another form than a ToolOutput' : 'what JSON cannot carry'
  return callError('SCHEMA.VALIDATION_FAILED', reason, {
    message: `"${tool}" returned ${what}. ${told} The tool ran, and what it did stands; only its result is lost. Do not call it again for that; tell the developer of the tool.`,
    issues,
  })
}

function fail(ran: Ran, error: CallError): Halted {
  return { halted: error, at: 'check-output', state: ran, begun: true }
}

/** Without secrets, all of it. Data that a block shows is looked at once. */
function clean(output: ToolOutput, { tenant }: CallScope): ToolOutput {
  const { redactor } = tenant
  const { summary, artifacts, error, metadata } = output
  const data = output.data === undefined ? undefined : redactor.json(output.data)
  const content = output.content.map((block) =>
    block.type === 'json' && block.json === output.data
      ? { ...block, json: data ?? null }
      : cleanBlock(block, redactor),
  )
  const cleaned: ToolOutput = { ...output, content }
  if (data !== undefined) cleaned.data = data
  if (summary !== undefined) cleaned.summary = redactor.text(summary)
  if (artifacts !== undefined) cleaned.artifacts = artifacts.map((each) => cleanArtifact(each, redactor))
  if (error !== undefined) cleaned.error = redactor.json(error)
  if (metadata !== undefined) cleaned.metadata = redactor.json(metadata)
  return cleaned
}

/** What is in Base64 has no shapes of tokens, only by chance. */
function cleanBlock(block: ContentBlock, redactor: Redactor): ContentBlock {
  switch (block.type) {
    case 'image':
    case 'audio':
      return { ...redactor.json({ ...block, data: '' }), data: redactor.binary(block.data) }
    case 'resource':
      return block.blob === undefined
        ? redactor.json(block)
        : { ...redactor.json({ ...block, blob: '' }), blob: redactor.binary(block.blob) }
    case 'artifact_ref':
      return { ...redactor.json(block), artifact: cleanArtifact(block.artifact, redactor) }
    case 'text':
    case 'json':
    case 'other':
      return redactor.json(block)
  }
}

/** Characters of the name and of the type of an artifact. */
const longestName = 255

function cleanArtifact({ name, mimeType, ...artifact }: Artifact, redactor: Redactor): Artifact {
  const clean: Artifact = { ...artifact, mimeType: redactor.text(mimeType).slice(0, longestName) }
  if (name !== undefined) clean.name = redactor.text(name).slice(0, longestName)
  return clean
}

/** Everything that takes its time: what does not fit goes to artifacts, media are described. */
async function finish(
  ran: Ran,
  { output, metadata }: Treated,
  scope: CallScope,
): Promise<CheckedOutput | Halted> {
  const { artifacts: store, limits } = scope.tenant
  const { definition } = ran.registered
  try {
    const stranger = /^mcp(\.|$)/.test(ran.registered.source) ? definition.name : undefined
    const wholes = keepWholes(store, { call: ran.call.id, artifacts: output.artifacts ?? [], stranger })
    const content = exceedsMedia(output.content) ? await limitMedia(output.content, wholes) : output.content
    const room = { inlineBytes: limits.inlineBytes, keepsContent: definition.longText === 'inline' }
    const fitted = await fitOutput({ ...output, content }, room, wholes)
    const media = hasMedia(fitted.output) ? { media: await describeMedia(fitted.output, store) } : {}
    return toChecked(ran, { output: fitted.output, metadata: { ...metadata, ...media, ...fitted.metadata } })
  } catch (error) {
    return fail(ran, toCallError(error, definition.name))
  }
}

interface Treated {
  readonly output: ToolOutput
  readonly metadata: Partial<ResultMetadata>
}

function toChecked(ran: Ran, { output: clean, metadata: known }: Treated): CheckedOutput {
  const metadata = { ...known }
  if (clean.metadata !== undefined) metadata.tool = clean.metadata
  const error = toError(clean, ran)
  if (error?.code === 'TOOL.TIMEOUT' || error?.code === 'TOOL.ABORTED') {
    metadata.aborted = true
    metadata.partial = clean.content.length > 0
    metadata.abortReason = ran.aborted?.reason ?? error.reason
  }
  const output: Output = {
    content: clean.content,
    data: clean.data,
    summary: clean.summary ?? '',
    artifacts: clean.artifacts ?? noArtifacts,
    error,
    metadata,
  }
  return advance['check-output'](ran, { output })
}

const noArtifacts: readonly Artifact[] = []

/** How much of a result is a text that says its data once more. */
function measureCopy({ content, data }: ToolOutput): number {
  if (data === undefined) return 0
  const said = JSON.stringify(data)
  const copy = content.find(
    (block) => block.type === 'text' && (readUntrusted(block.text) ?? block.text) === said,
  )
  return copy === undefined ? 0 : jsonSize(copy)
}

function toError(output: ToolOutput, ran: Ran): CallError | undefined {
  const { error } = output
  if (error === undefined) return ran.aborted?.error
  const { code = 'TOOL.FAILED', reason, issues, data } = error
  const said = code === 'TOOL.ABORTED' ? ran.aborted?.said : undefined
  const isTold = said === undefined || error.message.includes(said)
  return callError(code, reason, {
    message: isTold ? error.message : `${error.message} It was aborted for this: ${said}`,
    ...(issues !== undefined && { issues }),
    ...(data !== undefined && { data }),
  })
}
