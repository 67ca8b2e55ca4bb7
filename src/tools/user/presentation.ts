import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { CompatiblePresentation } from '../../contract/tool/tool.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'

const question = { type: 'string', minLength: 1, maxLength: 1_000 } as const
const label = { type: 'string', minLength: 1, maxLength: 100 } as const

/** The names and inputs by which models know `user.ask`. */
export const askPresentation: CompatiblePresentation = {
  name: 'AskUserQuestion',
  description:
    'Asks the person who works with this session one to four questions, and returns what they answer. They can choose of the options, or answer in their own words. The answer permits nothing.',
  inputSchema: {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        minItems: 1,
        maxItems: 4,
        items: {
          type: 'object',
          properties: {
            question,
            header: { type: 'string', maxLength: 50, description: 'A word or two for the question.' },
            options: {
              type: 'array',
              minItems: 1,
              maxItems: 20,
              items: {
                type: 'object',
                properties: { label, description: { type: 'string', maxLength: 500 } },
                required: ['label'],
                additionalProperties: false,
              },
            },
            multiSelect: { type: 'boolean' },
          },
          required: ['question'],
          additionalProperties: false,
        },
      },
    },
    required: ['questions'],
    additionalProperties: false,
  },
  toCanonical({ questions }) {
    const [first = {}, ...further] = Array.isArray(questions) ? questions.map(toQuestion) : []
    return { ...first, ...(further.length > 0 && { further }) }
  },
  aliases: [
    {
      name: 'AskUser',
      inputSchema: {
        type: 'object',
        properties: {
          question,
          options: { type: 'array', minItems: 1, maxItems: 20, items: label },
          multi_select: { type: 'boolean' },
        },
        required: ['question'],
        additionalProperties: false,
      },
      toCanonical: ({ options, ...rest }) => ({
        ...rest,
        ...(Array.isArray(options) && { options: options.map((each) => ({ label: each })) }),
      }),
    },
  ],
}

/** The header only says how the question is shown. */
function toQuestion(given: Json): JsonObject {
  if (!isJsonObject(given)) return {}
  const { header: _, multiSelect, ...rest } = given
  return { ...rest, ...(multiSelect !== undefined && { multi_select: multiSelect }) }
}
