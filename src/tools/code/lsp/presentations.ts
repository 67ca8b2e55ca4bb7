import type { JsonObject } from '../../../contract/base/json.ts'
import type { CompatiblePresentation } from '../../../contract/tool/tool.ts'
import { pathField } from '../base/fields.ts'

const place = { line: { type: 'integer' }, character: { type: 'integer' } } as const

/** What `code.lsp` returns to programs. */
export const answerSchema = {
  type: 'object',
  properties: {
    operation: { type: 'string' },
    source: { type: 'string', enum: ['language-server', 'search'] },
    server: { type: 'string', description: 'Name of the language server that answered.' },
    why: { type: 'string', description: 'Why a search answered.' },
    path: { type: 'string', description: 'The asked file.' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          ...place,
          end_line: { type: 'integer' },
          end_character: { type: 'integer' },
          name: { type: 'string' },
          kind: { type: 'string' },
          container: { type: 'string', description: 'What it lies in, such as a class.' },
          text: { type: 'string', description: 'The line, at most 200 characters.' },
          calls: {
            type: 'array',
            items: {
              type: 'object',
              properties: place,
              required: ['line', 'character'],
              additionalProperties: false,
            },
            description: 'Of a caller or callee: where the calls are.',
          },
        },
        required: ['path', 'line', 'character'],
        additionalProperties: false,
      },
      description: 'Places; lines and columns from 1, columns in UTF-16 units.',
    },
    hover: { type: 'string' },
    truncated: { type: 'boolean' },
    left_out: { type: 'integer', description: 'Places outside of the roots, and sensitive ones.' },
  },
  required: ['operation', 'source', 'items', 'truncated', 'left_out'],
  additionalProperties: false,
} as const

/** The names that models know, and ours. */
const compatible = {
  goToDefinition: 'definition',
  findReferences: 'references',
  hover: 'hover',
  documentSymbol: 'document_symbols',
  workspaceSymbol: 'workspace_symbols',
  goToImplementation: 'implementation',
  prepareCallHierarchy: 'prepare_call_hierarchy',
  incomingCalls: 'incoming_calls',
  outgoingCalls: 'outgoing_calls',
} as const

const compatibleNames: ReadonlyMap<unknown, string> = new Map(Object.entries(compatible))

/** `code.lsp` under the name and with the input that models already know. */
export const compatiblePresentation: CompatiblePresentation = {
  name: 'LSP',
  description:
    'Answers questions about code by a language server, or by a search where there is none; source says which. goToDefinition and the others of a place need file_path, line and character (both from 1; character in UTF-16 units); documentSymbol needs file_path; workspaceSymbol needs query. Returns 100 places.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: Object.keys(compatible) },
      file_path: pathField,
      line: { type: 'integer', minimum: 1, description: 'From 1.' },
      character: { type: 'integer', minimum: 1, description: 'Column, from 1, in UTF-16 units.' },
      query: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description: 'Of workspaceSymbol: a name, or a part of one.',
      },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  toCanonical({ operation, file_path, ...rest }) {
    const canonical: JsonObject = { ...rest, operation: compatibleNames.get(operation) ?? '' }
    if (file_path !== undefined) canonical['path'] = file_path
    return canonical
  },
}
