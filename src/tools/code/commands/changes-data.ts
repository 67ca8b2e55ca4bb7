import type { JsonObject } from '../../../contract/base/json.ts'
import type { FileEffect } from '../../../contract/base/effects.ts'

/** Changes that are named. */
export const maxNamed = 200

/** What a command changed, or would have, as data: the first changes, and how many there are. Nothing if that is not known. */
export function changesData(changes: readonly FileEffect[] | undefined): JsonObject {
  if (changes === undefined) return {}
  return {
    changes: changes.slice(0, maxNamed).map(({ path, effect, kind, bytes, target }) => ({
      path,
      effect,
      kind,
      ...(bytes !== undefined && { bytes }),
      ...(target !== undefined && { target }),
    })),
    changes_total: changes.length,
  }
}

/** What held changes add to the output schema of a command. */
export const changesSchema = {
  changes: {
    type: 'array',
    description: 'The first paths that it changed, or would change in a dry run, if that is known.',
    items: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        effect: { type: 'string', enum: ['created', 'changed', 'removed'] },
        kind: { type: 'string', enum: ['file', 'directory', 'link', 'other'] },
        bytes: { type: 'integer' },
        target: { type: 'string', description: 'What a link leads to.' },
      },
      required: ['path', 'effect', 'kind'],
      additionalProperties: false,
    },
  },
  changes_total: { type: 'integer', description: 'How many paths that are.' },
} as const
