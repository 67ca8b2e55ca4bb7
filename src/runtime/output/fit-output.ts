import type { Issue, Json, JsonObject } from '../../contract/base/json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import type { Artifact, ContentBlock, ResultMetadata, ToolOutput } from '../../contract/base/result.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { maxDataBytes } from '../../kit/json/max-data-bytes.ts'
import { readUntrusted } from '../../kit/text/mark-untrusted.ts'
import { resultText } from '../../kit/result/to-wire-result.ts'
import { wholeOf, wholeOutput } from '../../kit/whole-output.ts'
import { fairShare } from '../limits/fair-share.ts'
import { fitBlock, sizeOfBlock, type FittedBlock } from './fit-block.ts'
import type { Wholes } from './keep-wholes.ts'
import { shortenText } from './shorten-text.ts'

/** What a result may show. */
export interface Room {
  /** Of its content, summary, error and metadata together. */
  readonly inlineBytes: number
  /** Its text exists where it came from, so its content and data stay as they are. */
  readonly keepsContent: boolean
}

/** What it takes at most to say that a part was cut, and where its whole is: what was fitted once fits. */
const costOfCut = 640
/** Of blocks that do not fit, so many bytes each at least; more of them than that are shown as one. */
const leastOfBlock = 1024
/** 70 blocks of a hundred are the first ones, the others the last. */
const headShare = 0.7

/** An output within its room. What does not fit is in artifacts, whose URIs stand in its place. */
export async function fitOutput(
  output: ToolOutput,
  room: Room,
  wholes: Wholes,
): Promise<{ output: ToolOutput; metadata: Partial<ResultMetadata> }> {
  const { summary, error, metadata } = output
  const { message = '', data, issues } = error ?? {}
  const blocks = room.keepsContent ? [] : await joinMiddle(output.content, room, wholes)
  const sizes = [summary?.length ?? 0, message.length, ...[data, issues, metadata].map(jsonSize)]
  if (!room.keepsContent && exceeds(output.data, room)) sizes.push(costOfCut)
  const share = fairShare([...sizes, ...blocks.map(sizeOfBlock)], room.inlineBytes, costOfCut)
  const fit = { share, wholes }
  const fitted: FittedBlock[] = []
  for (const [index, block] of blocks.entries())
    fitted.push(await fitBlock(block, { ...fit, whole: wholeOf(blocks[index + 1]) }))
  const shown: ToolOutput = {
    ...output,
    ...(!room.keepsContent && { content: fitted.flatMap(({ content }) => content) }),
    ...(summary !== undefined && { summary: await fitText(summary, fit) }),
    ...(error !== undefined && { error: await fitError(error, fit) }),
    ...(metadata !== undefined && { metadata: await fitMembers(metadata, fit) }),
  }
  const rest = room.keepsContent
    ? { output: shown, metadata: {} }
    : await withholdData(shown, { room, blocks, fitted }, wholes)
  return {
    output: { ...rest.output, artifacts: wholes.artifacts },
    metadata: { ...sumOf(fitted), ...rest.metadata },
  }
}

/** How much was cut of all blocks. */
function sumOf(fitted: readonly FittedBlock[]): Pick<ResultMetadata, 'truncated'> {
  const cuts = fitted.flatMap(({ cut }) => cut ?? [])
  if (cuts.length === 0) return {}
  const sum = (field: 'bytes' | 'shownBytes') => cuts.reduce((total, cut) => total + cut[field], 0)
  return { truncated: { bytes: sum('bytes'), shownBytes: sum('shownBytes') } }
}

/** The content with no more blocks than can be shown one by one, if it does not fit: those in the middle go to one artifact. */
async function joinMiddle(
  content: readonly ContentBlock[],
  { inlineBytes }: Room,
  wholes: Wholes,
): Promise<readonly ContentBlock[]> {
  const most = Math.max(4, Math.floor(inlineBytes / leastOfBlock))
  const size = content.reduce((sum, block) => sum + sizeOfBlock(block), 0)
  if (content.length <= most || size + content.length * 32 <= inlineBytes) return content
  const head = Math.ceil(most * headShare)
  const middle = content.slice(head, head - most)
  // As text, in which the marks around words of strangers are found again.
  const artifact = await wholes.put(resultText({ content: middle }), 'text/plain')
  const binary = middle.filter((block) => 'data' in block || 'blob' in block)
  const text = `… ${middle.length} of ${content.length} parts left out here; their text is in ${wholes.uriOf(artifact)}${binary.length === 0 ? '' : `, ${await putBlocks(binary, wholes)}`} …`
  const told: ContentBlock[] = [
    { type: 'text', text },
    { type: 'artifact_ref', artifact },
  ]
  return [...content.slice(0, head), ...told, ...content.slice(head - most)]
}

async function putBlocks(blocks: readonly ContentBlock[], wholes: Wholes): Promise<string> {
  const artifact = await wholes.put(JSON.stringify(blocks), 'application/json')
  return `what is not text in ${wholes.uriOf(artifact)}`
}

interface Fit {
  readonly share: number
  readonly wholes: Wholes
}

async function fitText(text: string, { share, wholes }: Fit): Promise<string> {
  if (Buffer.byteLength(text) <= share) return text
  const whole = `the whole is in ${wholes.uriOf(await wholes.put(text, 'text/plain'))}`
  return shortenText(text, { maxBytes: share, whole }).text
}

type OutputError = NonNullable<ToolOutput['error']>

async function fitError(error: OutputError, fit: Fit): Promise<OutputError> {
  const fitted: OutputError = { ...error, message: await fitText(error.message, fit) }
  if (error.data !== undefined) fitted.data = await fitMembers(error.data, fit)
  if (error.issues !== undefined) fitted.issues = await fitIssues(error.issues, fit)
  return fitted
}

/** The first of the issues, if not all of them fit. */
const shownIssues = 10

async function fitIssues(issues: readonly Issue[], { share, wholes }: Fit): Promise<readonly Issue[]> {
  if (jsonSize(issues) <= share) return issues
  const more = { pointer: '', code: 'more_issues', message: await keepJson(issues, wholes) }
  const first = issues.slice(0, shownIssues)
  return jsonSize(first) <= share ? [...first, more] : [more]
}

/** The members that fit; each of the others says where it is. */
async function fitMembers(
  members: { readonly [key: string]: Json },
  { share, wholes }: Fit,
): Promise<JsonObject> {
  if (jsonSize(members) <= share) return { ...members }
  const entries = Object.entries(members)
  if (entries.length * costOfCut > share) return { whole: await keepJson(members, wholes) }
  const most = fairShare(
    entries.map(([key, value]) => key.length + jsonSize(value)),
    share,
    costOfCut,
  )
  const fitted: JsonObject = {}
  for (const [key, value] of entries) {
    if (key.length + jsonSize(value) <= most) fitted[key] = value
    else if (isJsonObject(value)) fitted[key] = await fitMembers(value, { share: most, wholes })
    else fitted[key] = await keepJson(value, wholes)
  }
  return fitted
}

async function keepJson(value: unknown, wholes: Wholes): Promise<string> {
  const artifact = await wholes.put(JSON.stringify(value), 'application/json')
  return `… ${artifact.bytes} bytes left out here; the whole is in ${wholes.uriOf(artifact)} …`
}

interface Shown {
  readonly room: Room
  readonly blocks: readonly ContentBlock[]
  readonly fitted: readonly FittedBlock[]
}

/** Data that is too large is left out, and said to be: a list that was cut is a wrong answer to a program. */
async function withholdData(
  output: ToolOutput,
  { room, blocks, fitted }: Shown,
  wholes: Wholes,
): Promise<{ output: ToolOutput; metadata: Partial<ResultMetadata> }> {
  const { data, ...rest } = output
  if (data === undefined || !exceeds(data, room)) return { output, metadata: {} }
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const index = blocks.findIndex((block) => shows(block, data, text))
  const shown = fitted[index]?.cut?.artifact
  const artifact =
    shown ?? (await wholes.put(text, typeof data === 'string' ? 'text/plain' : 'application/json'))
  const withheld = `The structured data of this result has ${Buffer.byteLength(text)} bytes, more than a result carries, and is left out; the whole is in ${wholes.uriOf(artifact)}.`
  const content: readonly ContentBlock[] =
    shown === undefined
      ? [...rest.content, { type: 'text', text: `[${withheld}]` }, toReference(artifact)]
      : rest.content
  return { output: { ...rest, content }, metadata: { withheld, dataArtifact: artifact } }
}

function exceeds(data: Json | undefined, { inlineBytes }: Room): boolean {
  return data !== undefined && jsonSize(data) > Math.max(maxDataBytes, inlineBytes)
}

function toReference(artifact: Artifact): ContentBlock {
  return { type: 'artifact_ref', artifact, note: wholeOutput }
}

/** Whether a block says this data, as servers are asked to. */
function shows(block: ContentBlock, data: Json, text: string): boolean {
  if (block.type === 'json') return block.json === data
  return block.type === 'text' && (readUntrusted(block.text) ?? block.text) === text
}
