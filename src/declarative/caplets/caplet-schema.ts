import type { JsonSchema } from '../../contract/base/schema.ts'

const root: JsonSchema = { type: 'string', pattern: '^(project|tmp|/.*)$' }
const roots = (description: string, standard: string[]): JsonSchema => ({
  type: 'array',
  items: root,
  uniqueItems: true,
  maxItems: 50,
  default: standard,
  description,
})

const test: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    input: { type: 'object', description: 'The input of the call.' },
    files: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'What lies in the project of the call, by path. Default: nothing.',
    },
    expect: {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        data: { description: 'The data of the result.' },
        content: { type: 'string', description: 'The text of the result.' },
        error: { type: 'string', description: 'The reason of its error.' },
      },
      description: 'What has to come of it.',
    },
  },
  required: ['name', 'input', 'expect'],
}

const own: { readonly [field: string]: JsonSchema } = {
  tool: { type: 'object', description: 'The tool, as a file of declared tools has it.' },
  read: roots('What its program may read: "project", "tmp" or absolute paths. Default: the project.', [
    'project',
  ]),
  write: roots('What its program may write, in the same form. Default: nothing.', []),
  tests: { type: 'array', items: test, maxItems: 1_000, default: [] },
}

/** `caplet.json` as an author writes it. */
export const capletSourceSchema: JsonSchema = {
  type: 'object',
  description: 'A tool to be packed with its files.',
  additionalProperties: false,
  properties: { $schema: { type: 'string' }, ...own },
  required: ['tool'],
}

const file: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    path: { type: 'string', maxLength: 200 },
    size: { type: 'integer', minimum: 0, maximum: 67_108_864 },
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    executable: { type: 'boolean' },
  },
  required: ['path', 'size', 'sha256'],
}

/** `caplet.json` as a package has it. */
export const signedCapletSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    manifest: {
      type: 'object',
      additionalProperties: false,
      properties: {
        format: { enum: [1] },
        publisher: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
        ...own,
        files: { type: 'array', items: file, maxItems: 1_000 },
      },
      required: ['format', 'tool', 'read', 'write', 'tests', 'files'],
    },
    signature: { type: 'string', pattern: '^[A-Za-z0-9_-]{86}$' },
  },
  required: ['manifest'],
}
