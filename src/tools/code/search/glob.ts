import type { Tool } from '../../../contract/tool/tool.ts'
import { showName } from '../../../kit/text/show-name.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { countOf } from '../base/count-of.ts'
import { excludedField, readsFiles, whereField } from '../base/fields.ts'
import { excludedNote, ignoredNote, openLook, planLook } from '../files/plan-look.ts'

/** `code.glob`: files whose paths match a pattern, newest first. */
export function globTool(): Tool {
  return defineBuiltin({
    name: 'code.glob',
    title: 'Find files',
    description:
      'Finds files by glob, newest first, such as "src/**/*.ts" or "*.{json,yaml}"; a pattern without "/" matches in every directory. Leaves out what .gitignore names, and sensitive paths. Returns 500 unless limit says otherwise.',
    ...readsFiles,
    limits: { maxFiles: 1_000, maxDepth: 64 },
    needs: ['files', 'search'],
    input: {
      type: 'object',
      properties: {
        pattern: patternField,
        path: whereField,
        limit: limitField,
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        files: { type: 'array', items: { type: 'string' }, description: 'Newest first.' },
        truncated: { type: 'boolean' },
        excluded: excludedField,
      },
      required: ['files', 'truncated', 'excluded'],
      additionalProperties: false,
    },
    compatible: {
      name: 'Glob',
      description:
        'Finds files by glob, newest first, such as "src/**/*.ts" or "*.{json,yaml}"; a pattern without "/" matches in every directory. Leaves out what .gitignore names, and sensitive paths. Returns 500 unless limit says otherwise.',
      inputSchema: {
        type: 'object',
        properties: { pattern: patternField, path: whereField, limit: limitField },
        required: ['pattern'],
        additionalProperties: false,
      },
      toCanonical: (input) => input,
    },
    decode: (input) => input,
    plan: ({ path }, context) => planLook(path, context),
    async run({ pattern, limit }, context) {
      const { search, planned: path } = context
      const { exclude } = await openLook(context)
      const { hits, truncated } = await search.find({
        pattern: undefined,
        path,
        glob: pattern,
        mode: 'files',
        order: 'mtime',
        limit,
        exclude,
      })
      const files = hits.map((hit) => hit.path)
      const summary =
        files.length === 0 ? `No file matches ${pattern}` : `${countOf(files.length, 'file')} for ${pattern}`
      const lines = files.map(showName)
      if (files.length === 0) lines.push(`[${summary}]`, ignoredNote)
      if (truncated) lines.push('[More files match: narrow the pattern, or ask for more at a time.]')
      if (exclude.length > 0) lines.push(excludedNote)
      return toolOutput({ content: lines.join('\n'), summary, data: { files, truncated, excluded: exclude } })
    },
  })
}

const limitField = { type: 'integer', minimum: 1, maximum: 1_000, default: 500 } as const

const patternField = {
  type: 'string',
  minLength: 1,
  maxLength: 1_000,
  description: 'Glob, relative to path.',
} as const
