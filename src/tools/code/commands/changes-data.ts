import type { JsonObject } from '../../../contract/base/json.ts'
import type { FileEffect } from '../../../contract/base/sandbox.ts'

/** Changes that are named. */
export const maxNamed = 200

/** What a dry run would have changed, as data: the first changes, and how many there are. Nothing for a command that was not a dry run. */
export function changesData(changes: readonly FileEffect[] | undefined): JsonObject {
  if (changes === undefined) return {}
  return {
    changes: changes.slice(0, maxNamed).map(({ path, effect, kind, bytes }) => ({
      path,
      effect,
      kind,
      ...(bytes !== undefined && { bytes }),
    })),
    changes_total: changes.length,
  }
}

/** What a dry run adds to the output schema of a command. */
export const changesSchema = {
  changes: {
    type: 'array',
    description: 'Of a dry run: the first paths that it would change.',
    items: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        effect: { type: 'string', enum: ['created', 'changed', 'removed'] },
        kind: { type: 'string', enum: ['file', 'directory', 'link', 'other'] },
        bytes: { type: 'integer' },
      },
      required: ['path', 'effect', 'kind'],
      additionalProperties: false,
    },
  },
  changes_total: { type: 'integer', description: 'Of a dry run: how many paths it would change.' },
} as const
