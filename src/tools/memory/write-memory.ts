import { memoryScopes, type MemoryOptions } from '../../contract/services/memory.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { findObstacle } from './find-obstacle.ts'

/** `internal.write_memory`: keeps a fact for later sessions. */
export function writeMemoryTool(options: MemoryOptions): Tool {
  const { mode = 'candidate' } = options
  const unavailable = mode === 'disabled' ? 'the operator lets no model write memory' : findObstacle(options)
  return defineBuiltin({
    name: 'internal.write_memory',
    title: 'Write memory',
    description:
      mode === 'external'
        ? 'Keeps a fact for later sessions: one that holds beyond this task, in a sentence or two that can be read alone. Never a secret.'
        : 'Notes a fact for later sessions: one that holds beyond this task, in a sentence or two that can be read alone. It is a candidate, which is recalled when a person or the extraction took it. Never a secret.',
    tags: ['memory', 'write'],
    permission: 'write',
    sideEffect: 'write',
    scopes: [{ resource: 'handrail:memory:*', action: 'write' }],
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: mode === 'external' },
    needs: ['memory'],
    ...(unavailable !== undefined && { unavailable }),
    input: {
      type: 'object',
      properties: {
        content: { type: 'string', minLength: 1, maxLength: 4000, pattern: '\\S' },
        scope: {
          type: 'string',
          enum: memoryScopes,
          default: 'project',
          description: 'project: it holds in this project; tenant: in every project.',
        },
        tags: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 60 },
          maxItems: 10,
          description: 'Words to find it by.',
        },
      },
      required: ['content'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        state: { type: 'string', enum: ['candidate', 'kept'] },
      },
      required: ['id', 'state'],
      additionalProperties: false,
    },
    decode: ({ content, scope, tags = [] }) => ({ content, scope, tags }),
    plan: async ({ content, scope, tags }) => ({
      operations: [{ kind: 'other', resource: `handrail:memory:${scope}` }],
      preview: {
        kind: 'text',
        title: mode === 'external' ? 'Keep in memory' : 'Note a candidate for memory',
        body: showControls([content, '', `Scope: ${scope}. Tags: ${tags.join(', ') || 'none'}.`].join('\n')),
      },
      planned: null,
    }),
    async run(fact, { memory }) {
      const { id, state } = await memory.write(fact)
      const words = state === 'candidate' ? 'is noted as a candidate' : 'is kept'
      return toolOutput({
        content: [{ type: 'text', text: `The fact ${words}: ${id}` }],
        summary: `The fact ${words}`,
        data: { id, state },
      })
    },
  })
}
