import type { SearchHit } from '../../../contract/services/sandbox.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { countOf } from '../base/count-of.ts'
import { excludedField, readsFiles, whereField } from '../base/fields.ts'
import { fromGrep, fromGrepFiles, grepFilesSchema, grepSchema } from './grep-presentation.ts'
import { excludedNote, ignoredNote, openLook, planLook } from '../files/plan-look.ts'
import { boundHits, showHits } from './show-hits.ts'

/** `code.search`: text in files, by ripgrep. */
export function searchTool(): Tool {
  return defineBuiltin({
    name: 'code.search',
    title: 'Search in files',
    description:
      'Searches files for a regular expression (Rust syntax: no look-around, no back references). mode: content (matching lines), files (paths only) or count. Leaves out what .gitignore names, binary files and sensitive paths. Returns 250 results unless limit says otherwise.',
    ...readsFiles,
    limits: { maxBytesOut: 8 * 1024 * 1024, maxFiles: 1_000, maxDepth: 64 },
    needs: ['files', 'search'],
    input: inputSchema,
    output: outputSchema,
    compatible: {
      name: 'Grep',
      description:
        'Searches files for a regular expression (Rust syntax: no look-around, no back references). output_mode: content (matching lines), files_with_matches (paths only) or count. Leaves out what .gitignore names, binary files and sensitive paths. Returns 250 results unless head_limit says otherwise.',
      inputSchema: grepSchema,
      toCanonical: fromGrep,
      aliases: [{ name: 'grep_files', inputSchema: grepFilesSchema, toCanonical: fromGrepFiles }],
    },
    decode: ({ case_insensitive, ...input }) => ({ ...input, caseInsensitive: case_insensitive }),
    plan: ({ path }, context) => planLook(path, context),
    async run({ query, ...request }, context) {
      const { search, planned: path } = context
      const { exclude, isDirectory } = await openLook(context)
      const found = await search.find({ ...request, pattern: query, path, exclude })
      const { hits, cut } = boundHits(found.hits)
      const truncated = found.truncated || cut
      const matches = hits.filter((hit) => hit.context !== true).length
      const summary =
        matches === 0
          ? 'No match'
          : `${countOf(matches, units[request.mode])}${truncated ? ', more follow' : ''}`
      const lines = showHits(hits, request.mode)
      if (matches === 0) lines.push(`[${summary}]`, ...(isDirectory ? [ignoredNote] : []))
      if (truncated) lines.push('[More matches follow: narrow the search, or ask for more at a time.]')
      if (exclude.length > 0) lines.push(excludedNote)
      return toolOutput({
        content: lines.join('\n'),
        summary,
        data: { hits: hits.map(toData), truncated, excluded: exclude },
      })
    },
  })
}

const units = { content: 'match', files: 'file', count: 'file' } as const

function toData({ path, line, text, context, count }: SearchHit) {
  return {
    path,
    ...(line !== undefined && { line }),
    ...(text !== undefined && { text }),
    ...(context === true && { context }),
    ...(count !== undefined && { count }),
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 10_000, description: 'Regular expression.' },
    path: whereField,
    glob: {
      type: 'string',
      minLength: 1,
      maxLength: 1_000,
      description: 'Only files that match, such as "*.ts".',
    },
    type: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'Only files of a type of ripgrep, such as "py".',
    },
    mode: { type: 'string', enum: ['content', 'files', 'count'], default: 'content' },
    case_insensitive: { type: 'boolean', default: false },
    before: {
      type: 'integer',
      minimum: 0,
      maximum: 20,
      default: 0,
      description: 'Lines of context before a match.',
    },
    after: {
      type: 'integer',
      minimum: 0,
      maximum: 20,
      default: 0,
      description: 'Lines of context after a match.',
    },
    multiline: { type: 'boolean', default: false, description: 'Let a match span lines.' },
    limit: { type: 'integer', minimum: 1, maximum: 1_000, default: 250 },
  },
  required: ['query'],
  additionalProperties: false,
} as const

const outputSchema = {
  type: 'object',
  properties: {
    hits: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          line: { type: 'integer' },
          text: { type: 'string', description: 'At most 1,000 characters of the line.' },
          context: { type: 'boolean', description: 'True for a line of context.' },
          count: { type: 'integer', description: 'Matches in the file, in mode count.' },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
    truncated: { type: 'boolean' },
    excluded: excludedField,
  },
  required: ['hits', 'truncated', 'excluded'],
  additionalProperties: false,
} as const
