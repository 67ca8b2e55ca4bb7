import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'

/** `code_mode.declarations`: the types of the tools that a program can call. */
export function declarationsTool(): Tool {
  return defineBuiltin({
    name: 'code_mode.declarations',
    title: 'Declare tools',
    description:
      'Shows the tools that a program of code_mode.run can call, as TypeScript declarations. Name those that you need: all of them may be long.',
    tags: ['readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:program', action: 'read' }],
    needs: ['codeMode'],
    input: {
      type: 'object',
      properties: {
        tools: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 200 },
          minItems: 1,
          maxItems: 100,
          description: 'Names or patterns, such as code.* for those that begin so. Default: all.',
        },
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { declarations: { type: 'string', description: 'TypeScript.' } },
      required: ['declarations'],
      additionalProperties: false,
    },
    decode: ({ tools }) => tools,
    plan: async () => ({ operations: [{ kind: 'other', resource: 'handrail:program' }], planned: null }),
    async run(tools, { codeMode }) {
      const declarations = codeMode.declare(tools)
      return toolOutput({ content: declarations, summary: 'types of tools', data: { declarations } })
    },
  })
}
