import type { Json, JsonObject } from '../../../contract/base/json.ts'
import { whereField } from '../base/fields.ts'

const contextField = {
  type: 'integer',
  minimum: 0,
  description: 'Lines of context; at most 20 are given.',
} as const

/** The input of the compatible presentation of `code.search`. */
export const grepSchema = {
  type: 'object',
  properties: {
    pattern: {
      type: 'string',
      minLength: 1,
      maxLength: 10_000,
      description: 'Regular expression, Rust syntax.',
    },
    path: whereField,
    glob: { type: 'string', description: 'Only files that match, such as "*.ts".' },
    type: { type: 'string', description: 'Only files of a type of ripgrep, such as "py".' },
    output_mode: {
      type: 'string',
      enum: ['content', 'files_with_matches', 'count'],
      default: 'files_with_matches',
    },
    '-i': { type: 'boolean', description: 'Ignore case.' },
    '-n': { type: 'boolean', description: 'Line numbers; they are always given.' },
    '-A': contextField,
    '-B': contextField,
    '-C': contextField,
    multiline: { type: 'boolean', description: 'Let a match span lines.' },
    head_limit: { type: 'integer', minimum: 0, description: 'Default 250; at most 1000, which 0 means too.' },
  },
  required: ['pattern'],
  additionalProperties: false,
} as const

const modes: { readonly [outputMode: string]: string } = {
  content: 'content',
  files_with_matches: 'files',
  count: 'count',
}

/** The canonical input of a compatible one. */
export function fromGrep(input: JsonObject): JsonObject {
  const mode = input['output_mode']
  const canonical: JsonObject = {
    query: input['pattern'] ?? '',
    mode: (typeof mode === 'string' ? modes[mode] : undefined) ?? 'files',
    before: lines(input['-B'] ?? input['-C']),
    after: lines(input['-A'] ?? input['-C']),
    case_insensitive: input['-i'] ?? false,
    multiline: input['multiline'] ?? false,
  }
  for (const name of ['path', 'glob', 'type']) {
    const value = input[name]
    if (value !== undefined && value !== '') canonical[name] = value
  }
  const limit = input['head_limit']
  if (typeof limit === 'number') canonical['limit'] = limit === 0 ? 1_000 : Math.min(limit, 1_000)
  return canonical
}

/** The input of its alias for callers that know a search as a pattern and a place. */
export const grepFilesSchema = {
  type: 'object',
  properties: { pattern: grepSchema.properties.pattern, path: whereField },
  required: ['pattern'],
  additionalProperties: false,
} as const

/** The canonical input of such a one: the lines that match. */
export function fromGrepFiles({ pattern, ...input }: JsonObject): JsonObject {
  return { ...input, query: pattern ?? '' }
}

function lines(value: Json | undefined): number {
  return typeof value === 'number' ? Math.min(value, 20) : 0
}
