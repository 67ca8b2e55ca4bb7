import type {
  ArtifactPart,
  Artifacts,
  NamedArtifact,
  ReadArtifact,
} from '../../contract/services/artifacts.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { readArtifactUri, toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { isTextType } from '../../kit/result/is-text-type.ts'
import { findSource, markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'

/** Given at a time where nothing else is asked for, and at most. */
const pageBytes = 24 * 1024
const maxBytes = 4 * 1024 * 1024
/** More than what stands before the first untrusted text. */
const headBytes = 4 * 1024

interface Wanted extends NamedArtifact {
  readonly part: ArtifactPart
  /** Whether a part is of no use. */
  readonly whole: boolean
}

/** `artifact.read`: a large or binary output that an earlier call of the same caller left. */
export function readTool(): Tool {
  return defineBuiltin({
    name: 'artifact.read',
    title: 'Read artifact',
    description:
      'Returns a large or binary output that an earlier call left as an artifact, by the URI that stands in its result, 24 KiB at a time: pass next_offset as offset to go on. What is not text comes as base64. Only artifacts of the own calls can be read.',
    tags: ['artifact', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:artifact:*', action: 'read' }],
    // A gigabyte is held against its digest when it is first read.
    limits: { timeoutMs: 60_000, maxBytesOut: 2 * maxBytes },
    annotations: { readOnlyHint: true, openWorldHint: false },
    longText: 'inline',
    needs: ['artifacts'],
    input: {
      type: 'object',
      properties: {
        uri: { type: 'string', minLength: 1, maxLength: 512, description: 'As it stands in the result.' },
        offset: { type: 'integer', minimum: 0, default: 0, description: 'In bytes.' },
        length: {
          type: 'integer',
          minimum: 1,
          maximum: maxBytes,
          default: pageBytes,
          description: 'In bytes.',
        },
        whole: { type: 'boolean', default: false, description: 'Fail instead of giving a part of it.' },
      },
      required: ['uri'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        uri: { type: 'string' },
        mime_type: { type: 'string' },
        bytes: { type: 'integer', description: 'Of the whole.' },
        offset: { type: 'integer' },
        next_offset: { type: 'integer', description: 'Absent where there is no more.' },
      },
      required: ['uri', 'mime_type', 'bytes', 'offset'],
      additionalProperties: false,
    },
    decode: ({ uri, offset, length, whole }): Wanted => {
      const named = readArtifactUri(uri)
      if (named !== undefined)
        return { call: named.call, digest: named.digest, part: named.part ?? { offset, length }, whole }
      throw new ToolFailure({
        code: 'SCHEMA.VALIDATION_FAILED',
        reason: 'invalid_input',
        message: `"${uri}" is not a URI of an artifact. Take it from the result of the call that left the artifact: handrail://artifact/<call>/<digest>.`,
      })
    },
    plan: async ({ call, digest }) => ({
      operations: [{ kind: 'other', resource: `handrail:artifact:${call}/${digest}` }],
      planned: digest,
    }),
    async run(wanted, { artifacts }) {
      const { offset, length } = wanted.part
      const part = { offset, length: Math.min(length, maxBytes) }
      const read = await artifacts.read(wanted, part)
      if (wanted.whole && read.total > part.length) throw tooLarge(wanted, read.total)
      const source = read.bytes.length < read.total ? await findOrigin(wanted, artifacts) : undefined
      return toOutput(toArtifactUri(wanted), read, { offset, source })
    },
  })
}

/** Marks of untrusted text stand at the start of a whole, before what anybody else wrote. */
async function findOrigin(wanted: Wanted, artifacts: Artifacts): Promise<string | undefined> {
  const { bytes } = await artifacts.read(wanted, { offset: 0, length: headBytes })
  return findSource(Buffer.from(bytes).toString())
}

function tooLarge(wanted: Wanted, total: number): ToolFailure {
  const first = toArtifactUri(wanted, { offset: 0, length: maxBytes })
  return new ToolFailure({
    reason: 'output_too_large',
    message: `The artifact has ${total} bytes; at most ${maxBytes} are given at a time. Read it in parts, the first as "${first}".`,
    data: { bytes: total, first },
  })
}

/** A part of untrusted text has marks of its own, since those of the whole are not in it. */
function toOutput(
  uri: string,
  { bytes, total, mimeType, name }: ReadArtifact,
  { offset, source }: { offset: number; source: string | undefined },
): ToolOutput {
  const isLast = offset + bytes.length >= total
  const shown = isTextType(mimeType) ? readText(bytes, isLast) : undefined
  const next = offset + (shown?.length ?? bytes.length)
  const piece =
    shown === undefined
      ? { blob: Buffer.from(bytes).toString('base64') }
      : { text: source === undefined ? shown.text : markUntrusted(shown.text, source, 'an earlier call') }
  const content: ContentBlock[] = [
    { type: 'resource', uri, mimeType, ...(name !== undefined && { name }), ...piece },
  ]
  return toolOutput({
    content,
    summary: `${next - offset} of ${total} bytes from ${offset}`,
    data: { uri, mime_type: mimeType, bytes: total, offset, ...(next < total && { next_offset: next }) },
  })
}

/** As text where it is some, without a letter that is cut at its end, and how many bytes that are. */
function readText(bytes: Uint8Array, isLast: boolean): { text: string; length: number } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isLast })
    const length = Buffer.byteLength(text)
    // Less than one letter would never come to an end.
    return length === 0 && bytes.length > 0 ? undefined : { text, length }
  } catch {
    return undefined
  }
}
