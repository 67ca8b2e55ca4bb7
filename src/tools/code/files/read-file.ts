import { dirname } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Tool, ToolContext } from '../../../contract/tool/tool.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { checkPath } from '../base/check-path.ts'
import { pathField, readsFiles } from '../base/fields.ts'
import { fileNotFound } from '../base/file-not-found.ts'
import { openText, type OpenText } from './open-text.ts'
import { showLines } from './show-lines.ts'
import { showPath } from '../base/show-path.ts'
import { sliceLines } from './slice-lines.ts'

const maxLines = 1_000
const maxLineBytes = 4_096

/** `code.read_file`: some lines of a text file, numbered. Memory is bounded by the lines asked for, whatever the size of the file. */
export function readFileTool(): Tool {
  return defineBuiltin({
    name: 'code.read_file',
    title: 'Read file',
    description:
      'Reads lines of a text file, numbered. Returns 200 lines unless max_lines says more (at most 1000); goes on at next_start_line. Lines over 4096 bytes are cut. Binary files give their type and digest only.',
    ...readsFiles,
    // The numbered text and the same content as data, 4 MiB each at most.
    limits: { maxBytesOut: 8 * 1024 * 1024, maxFiles: 1 },
    longText: 'inline',
    needs: ['files', 'instructions'],
    input: inputSchema,
    output: outputSchema,
    compatible: {
      name: 'Read',
      description:
        'Reads lines of a text file, numbered: at most 1000, from offset on. Lines over 4096 bytes are cut. Binary files give their type and digest only.',
      inputSchema: {
        type: 'object',
        properties: {
          file_path: pathField,
          offset: { type: 'integer', minimum: 0, maximum: 1_000_000_000, description: 'First line, from 1.' },
          limit: { type: 'integer', minimum: 1, description: 'Lines to read; at most 1000 are given.' },
        },
        required: ['file_path'],
        additionalProperties: false,
      },
      toCanonical: ({ file_path, offset, limit }) => ({
        path: file_path ?? '',
        start_line: typeof offset === 'number' ? Math.max(1, offset) : 1,
        max_lines: typeof limit === 'number' ? Math.min(limit, maxLines) : maxLines,
      }),
    },
    decode: (input) => ({ path: input.path, startLine: input.start_line, maxLines: input.max_lines }),
    async plan({ path }, { files }) {
      const resolved = await files.resolve(path, 'read')
      return {
        operations: [{ kind: 'fs.read', path: resolved }],
        scope: resolved,
        planned: resolved,
      }
    },
    async run({ startLine, maxLines: count }, context) {
      const { files, planned: path } = context
      await checkPath(files, path, 'read')
      const stat = await files.stat(path)
      if (stat === undefined) throw await fileNotFound(files, context.project, path)
      const opened = await openText(untilAborted(files.chunks(path), context), stat.size)
      if (opened.kind === 'binary') throw binaryFile(showPath(context.project, path), opened)
      const window = { startLine, maxLines: count, maxLineBytes, lineBreak: opened.lineBreak }
      const slice = await sliceLines(opened.chunks, window)
      const { text, data, summary } = showLines(slice, {
        path: showPath(context.project, path),
        bytes: stat.size,
        startLine,
        encoding: opened.encoding,
        bom: opened.bom,
      })
      const instructions = findInstructions(path, data, context)
      return toolOutput({
        content: text,
        data,
        summary,
        ...(instructions !== undefined && { metadata: { instructions } }),
      })
    },
  })
}

/** A file that tells how to work in the project, read whole, counts for the session; the result says so. */
function findInstructions(
  path: string,
  data: JsonObject,
  { instructions, project }: ContextWith<'instructions'>,
): JsonObject | undefined {
  if (!instructions.covers(path)) return undefined
  const { start_line: start, truncated, truncated_lines: cut, content } = data
  const isWhole = start === 1 && truncated === false && Array.isArray(cut) && cut.length === 0
  if (!isWhole || typeof content !== 'string') return undefined
  const scope = dirname(path)
  const digest = fileDigest(content)
  instructions.found({ path, scope, digest })
  return { path: showPath(project, path), scope: showPath(project, scope), digest }
}

const inputSchema = {
  type: 'object',
  properties: {
    path: pathField,
    start_line: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
      default: 1,
      description: 'First line, from 1.',
    },
    max_lines: { type: 'integer', minimum: 1, maximum: maxLines, default: 200 },
  },
  required: ['path'],
  additionalProperties: false,
} as const

const outputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    content: { type: 'string', description: 'The lines as they are in the file, with their line endings.' },
    start_line: { type: 'integer' },
    lines: { type: 'integer', description: 'Number of lines in content.' },
    total_lines: { type: 'integer', description: 'Lines of the file; only where its end was reached.' },
    bytes: { type: 'integer', description: 'Size of the file.' },
    truncated: { type: 'boolean', description: 'Whether lines follow.' },
    next_start_line: { type: 'integer' },
    truncated_lines: {
      type: 'array',
      items: { type: 'integer' },
      description: 'Numbers of lines that were cut.',
    },
    line_endings: { type: 'string', enum: ['lf', 'crlf', 'cr', 'mixed', 'none'] },
    final_newline: { type: 'boolean', description: 'Only where the end of the file was reached.' },
    encoding: { type: 'string', enum: ['utf-8', 'utf-16le', 'utf-16be'] },
    bom: { type: 'boolean' },
    broken_characters: {
      type: 'boolean',
      description: 'Whether bytes that are not UTF-8 were replaced by U+FFFD.',
    },
  },
  required: [
    'path',
    'content',
    'start_line',
    'lines',
    'bytes',
    'truncated',
    'truncated_lines',
    'line_endings',
    'encoding',
    'bom',
    'broken_characters',
  ],
  additionalProperties: false,
} as const

async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  { signal }: ToolContext,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (signal.aborted) {
      throw new ToolFailure({
        code: 'TOOL.ABORTED',
        reason: 'aborted_by_user',
        message: 'Reading was aborted.',
      })
    }
    yield chunk
  }
}

function binaryFile(
  path: string,
  { mimeType, bytes, digest }: Extract<OpenText, { kind: 'binary' }>,
): ToolFailure {
  const data: JsonObject = { path, bytes, kind: mimeType }
  if (digest !== undefined) data['digest'] = digest
  return new ToolFailure({
    reason: 'binary_file',
    message: `"${path}" is binary (${mimeType}, ${bytes} bytes); its content is not shown. Use a program that knows the format.`,
    data,
  })
}
