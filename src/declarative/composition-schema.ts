import type { JsonSchema } from '../contract/base/schema.ts'
import type { Compatibility, Deprecation } from '../contract/tool/tool.ts'
import type { PartSpec } from '../define/composition/compose-tools.ts'
import type { Template } from '../define/composition/template.ts'
import { toolFileSchema } from './tool-file-schema.ts'

/** `<home>/tools/*.json` with `parts`: several tools as one, as its published schema has it. */
export interface CompositionFile {
  $schema?: string
  name: string
  title?: string
  version: string
  description: string
  input_schema: JsonSchema
  tags: readonly string[]
  compatibility?: Partial<Compatibility>
  deprecations?: readonly Deprecation[]
  parts: { readonly [part: string]: Omit<PartSpec, 'tool'> & { readonly tool: string } }
  returns?: Template
}

/** What every file of a tool may say. */
const common = [
  '$schema',
  'name',
  'title',
  'version',
  'description',
  'input_schema',
  'tags',
  'compatibility',
  'deprecations',
]

/** A file that makes one tool of several. */
export const compositionFileSchema: JsonSchema = {
  type: 'object',
  description:
    'Several tools as one. Only files in the tools folder of a person are read, never those of a project.',
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(
      Object.entries(toolFileSchema.properties ?? {}).filter(([field]) => common.includes(field)),
    ),
    parts: {
      type: 'object',
      minProperties: 1,
      maxProperties: 64,
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          tool: {
            type: 'string',
            minLength: 1,
            description: 'Canonical name of a built-in tool, or of one of this folder.',
          },
          input: {
            type: 'object',
            description:
              'What it is called with. { "from": "input" or a part, "at": "/pointer" } is a value of the input, or of what a part returned; with "unchecked": true it is held to the schema only when it is there.',
          },
          after: {
            type: 'array',
            items: { type: 'string' },
            description: 'Parts that have to end before it.',
          },
        },
        required: ['tool'],
      },
      description: 'The parts by their names.',
    },
    returns: { description: 'What it returns. Default: what the last part returned.' },
  },
  required: ['name', 'description', 'parts'],
}
