import { ToolFailure } from '../contract/base/errors.ts'
import type { Issue, Json, JsonObject } from '../contract/base/json.ts'
import type { ContentBlock, ToolOutput } from '../contract/base/result.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { ToolContext } from '../contract/tool/tool.ts'
import { isBase64 } from '../kit/secrets/is-base64.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { toolOutput } from '../kit/result/tool-output.ts'
import { toolOutputSchema } from './tool-output-schema.ts'
import type { ToolFile } from './tool-file.ts'

/** A block as a program prints it. */
interface Block {
  type: 'text' | 'json' | 'image' | 'resource'
  text?: string
  json?: Json
  data?: string
  mime_type?: string
  uri?: string
  name?: string
}

/** What a program prints. */
interface Printed {
  tool_call_id?: string
  call_id?: string
  tool?: string
  ok?: boolean
  is_error?: boolean
  content?: string | Block[]
  data?: Json
  summary?: string
  artifacts?: PrintedArtifact[]
  error?: { reason: string; message: string; data?: JsonObject }
  metadata?: JsonObject
}

/** A large output as a program prints it: a text, or bytes in Base64. */
interface PrintedArtifact {
  name?: string
  mime_type: string
  text?: string
  data?: string
}

/** A printed result as what the tool returns. Throws a ToolFailure with every issue where it has another form or is of another call. */
export async function parseOutput(
  value: Json,
  { file, context, checker }: { file: ToolFile; context: ToolContext; checker: SchemaChecker },
): Promise<ToolOutput> {
  const checked = checker.check(toolOutputSchema, withoutNull(value))
  if (!checked.ok) throw wrongForm(file.name, checked.issues)
  const found: unknown = checked.value
  // The schema of what a program prints has just been held against the value.
  const printed = found as Printed
  const issues = [
    ...checkCall(printed, file.name, context),
    ...checkOutcome(printed),
    ...checkBlocks(printed),
    ...checkArtifacts(printed),
  ]
  if (issues.length > 0) throw wrongForm(file.name, issues)
  const { data, summary, metadata } = printed
  const error = toError(printed)
  const artifacts = await Promise.all((printed.artifacts ?? []).map((each) => keep(each, context)))
  return toolOutput({
    content: [
      ...toContent(printed),
      ...artifacts.map((artifact): ContentBlock => ({ type: 'artifact_ref', artifact })),
    ],
    artifacts,
    ...(data !== undefined && { data }),
    ...(summary !== undefined && { summary }),
    ...(metadata !== undefined && { metadata }),
    ...(error !== undefined && { error }),
  })
}

/** A field that a program leaves empty is not there. Data that is null is null. */
function withoutNull(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.filter(([field, each]) => each !== null || field === 'data'))
}

async function keep({ name, mime_type: mimeType, text, data }: PrintedArtifact, context: ToolContext) {
  return context.artifact(text ?? Buffer.from(data ?? '', 'base64'), {
    mimeType,
    ...(name !== undefined && { name }),
  })
}

function checkArtifacts({ artifacts = [] }: Printed): Issue[] {
  return artifacts.flatMap(({ text, data }, index): Issue[] => {
    const pointer = pointerTo('/artifacts', index)
    if ((text === undefined) === (data === undefined))
      return [{ pointer, code: 'missing', message: 'An artifact needs "text" or "data", and not both.' }]
    if (data === undefined || isBase64(data)) return []
    return [{ pointer: `${pointer}/data`, code: 'invalid_text', message: 'This is not Base64.' }]
  })
}

function checkCall(printed: Printed, tool: string, context: ToolContext): Issue[] {
  const own = [
    ['tool_call_id', context.toolCallId],
    ['call_id', context.callId],
    ['tool', tool],
  ] as const
  return own.flatMap(([field, expected]) => {
    const given = printed[field]
    if (given === undefined || given === expected) return []
    return [
      { pointer: `/${field}`, code: 'other_call', message: `It is not that of this call, "${expected}".` },
    ]
  })
}

function checkOutcome({ ok, is_error: isError, error }: Printed): Issue[] {
  const failed = isError ?? (ok === undefined ? error !== undefined : !ok)
  const contradicts = (ok !== undefined && ok === failed) || (error !== undefined && !failed)
  return contradicts
    ? [{ pointer: '', code: 'contradiction', message: '"ok", "is_error" and "error" do not say the same.' }]
    : []
}

const needed: { readonly [type in Block['type']]: readonly (keyof Block)[] } = {
  text: ['text'],
  json: ['json'],
  image: ['data', 'mime_type'],
  resource: ['uri'],
}

function checkBlocks({ content }: Printed): Issue[] {
  if (content === undefined || typeof content === 'string') return []
  return content.flatMap((block, index) =>
    needed[block.type]
      .filter((field) => block[field] === undefined)
      .map((field) => ({
        pointer: pointerTo('/content', index),
        code: 'missing',
        message: `A block of type "${block.type}" needs "${field}".`,
      })),
  )
}

function toContent({ content, data }: Printed): ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content !== undefined) return content.map(toBlock)
  if (data === undefined) return []
  return [typeof data === 'string' ? { type: 'text', text: data } : { type: 'json', json: data }]
}

/** The fields that a type needs were found to be there. */
function toBlock({
  type,
  text = '',
  json = null,
  data = '',
  mime_type: mimeType,
  uri = '',
  name,
}: Block): ContentBlock {
  switch (type) {
    case 'text':
      return { type, text }
    case 'json':
      return { type, json }
    case 'image':
      return { type, data, mimeType: mimeType ?? '' }
    case 'resource':
      return {
        type,
        uri,
        ...(name !== undefined && { name }),
        ...(mimeType !== undefined && { mimeType }),
        ...(text !== '' && { text }),
      }
  }
}

function toError({ ok, is_error: isError, error, summary }: Printed): ToolOutput['error'] {
  if (error !== undefined) return error
  if (isError !== true && ok !== false) return undefined
  return { reason: 'failed', message: summary ?? 'The program says that it failed; its content says why.' }
}

function wrongForm(tool: string, issues: readonly Issue[]): ToolFailure {
  const all = issues.map(({ pointer, message }) => `${pointer === '' ? '/' : pointer}: ${message}`).join(' ')
  return new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_output',
    message: `The program of "${tool}" printed something else than a result: ${all}`,
    issues,
  })
}
