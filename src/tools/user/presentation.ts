import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { CompatiblePresentation } from '../../contract/tool/tool.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { headerField, optionField, questionField } from './fields.ts'

const options = { type: 'array', minItems: 1, maxItems: 20, items: optionField } as const

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
            question: questionField,
            header: headerField,
            options,
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
          question: questionField,
          options,
          multi_select: { type: 'boolean' },
        },
        required: ['question'],
        additionalProperties: false,
      },
      toCanonical: (input) => input,
    },
  ],
}

function toQuestion(given: Json): JsonObject {
  if (!isJsonObject(given)) return {}
  const { multiSelect, ...rest } = given
  return { ...rest, ...(multiSelect !== undefined && { multi_select: multiSelect }) }
}
