/** Fields of a question, by whichever name a model calls the tool. */
export const questionField = { type: 'string', minLength: 1, maxLength: 1_000 } as const

export const headerField = {
  type: 'string',
  minLength: 1,
  maxLength: 50,
  description: 'A word or two that stand over the question.',
} as const

/** A label alone, or with what it means. */
export const optionField = {
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 100,
  properties: {
    label: { type: 'string', minLength: 1, maxLength: 100, description: 'What the person chooses.' },
    description: { type: 'string', maxLength: 500, description: 'What that means.' },
  },
  required: ['label'],
  additionalProperties: false,
} as const
