import type { Tool } from '../../../contract/base/tool.ts'
import { showName } from '../../../kit/text/show-name.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { requireSupply } from '../../require-supply.ts'
import { countOf } from '../base/count-of.ts'
import { excludedField, readScopes, whereField } from '../base/fields.ts'
import { excludedNote, ignoredNote, openLook, planLook } from '../files/plan-look.ts'

/** `code.glob`: files whose paths match a pattern, newest first. */
export function globTool(): Tool {
  return defineBuiltin({
    name: 'code.glob',
    title: 'Find files',
    description:
      'Finds files by glob, newest first, such as "src/**/*.ts" or "*.{json,yaml}"; a pattern without "/" matches in every directory. Leaves out what .gitignore names, and sensitive paths. Gives 500 unless limit says otherwise.',
    tags: ['code', 'filesystem', 'readonly'],
    permission: 'readonly',
    sideEffect: 'read',
    safety: 'low',
    scopes: readScopes,
    capabilities: { read: ['*'] },
    limits: { maxFiles: 1_000, maxDepth: 64 },
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['files', 'search'],
    inputSchema: {
      type: 'object',
      properties: {
        pattern: patternField,
        path: whereField,
        limit: limitField,
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        files: { type: 'array', items: { type: 'string' }, description: 'Newest first.' },
        truncated: { type: 'boolean' },
        excluded: excludedField,
      },
      required: ['files', 'truncated', 'excluded'],
      additionalProperties: false,
    },
    familiar: {
      name: 'Glob',
      description:
        'Finds files by glob, newest first, such as "src/**/*.ts" or "*.{json,yaml}"; a pattern without "/" matches in every directory. Leaves out what .gitignore names, and sensitive paths. Gives 500 unless limit says otherwise.',
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
    async run({ pattern, limit }, context, path) {
      const { exclude } = await openLook(requireSupply(context.files, 'files'), context, path)
      const search = requireSupply(context.search, 'search')
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
