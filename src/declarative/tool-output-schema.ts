import type { JsonSchema } from '../contract/base/schema.ts'

const text: JsonSchema = { type: 'string' }

/** What a program with the output `result` prints: the part of a result that is the tool's to say. */
export const toolOutputSchema: JsonSchema = {
  type: 'object',
  description: 'A result, as a declared tool prints it on stdout.',
  additionalProperties: false,
  properties: {
    tool_call_id: { ...text, description: 'Of the call on stdin, where it is given.' },
    call_id: text,
    tool: text,
    ok: { type: 'boolean' },
    is_error: { type: 'boolean', description: 'Default: whether there is an error.' },
    content: {
      type: ['string', 'array'],
      description: 'What the model reads: a text, or blocks. Default: the data.',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          type: { enum: ['text', 'json', 'image', 'resource'] },
          text,
          json: {},
          data: { ...text, description: 'Of an image, in base64.' },
          mime_type: text,
          uri: text,
          name: text,
        },
        required: ['type'],
      },
    },
    data: { description: 'For programs; held against the output schema.' },
    summary: text,
    artifacts: {
      type: 'array',
      description: 'Large or binary outputs: each is kept as an artifact, and the result refers to it.',
      maxItems: 50,
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: text,
          mime_type: { type: 'string', minLength: 1 },
          text,
          data: { ...text, description: 'Bytes in Base64, in the place of a text.' },
        },
        required: ['mime_type'],
      },
    },
    error: {
      type: 'object',
      additionalProperties: false,
      properties: {
        code: { const: 'TOOL.FAILED' },
        reason: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,63}$', default: 'failed' },
        message: { type: 'string', minLength: 1 },
        data: { type: 'object' },
      },
      required: ['message'],
    },
    metadata: { type: 'object' },
  },
}
