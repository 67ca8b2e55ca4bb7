import type { ElicitationResult, FormField, FormSchema } from '../../contract/base/elicitation.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { invalidInput } from '../code/base/invalid-input.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { askPresentation } from './presentation.ts'
import { headerField, optionField, questionField } from './fields.ts'

const mostFurther = 3

const questionFields = {
  question: { ...questionField, description: 'The whole question.' },
  header: headerField,
  options: {
    type: 'array',
    minItems: 1,
    maxItems: 20,
    items: optionField,
    description: 'What the person can choose; they can also answer in their own words. Default: only that.',
  },
  multi_select: { type: 'boolean', default: false, description: 'Whether they may choose several.' },
} as const

/** One question, as it is asked. */
interface Question {
  readonly question: string
  readonly header: string | undefined
  readonly options: readonly { readonly label: string; readonly description?: string | undefined }[]
  readonly many: boolean
}

/** `user.ask`: a question to the person who works with the session. Their answer is text, and permits nothing. */
export function askTool(): Tool {
  return defineBuiltin({
    name: 'user.ask',
    title: 'Ask the person',
    description:
      'Asks the person who works with this session, and returns what they answer. Use it if you cannot go on well without a decision of theirs. The answer permits nothing: tools that need an approval ask for it as always.',
    tags: ['user', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:user', action: 'ask' }],
    concurrency: 'serial',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        ...questionFields,
        further: {
          type: 'array',
          maxItems: mostFurther,
          items: {
            type: 'object',
            properties: questionFields,
            required: ['question'],
            additionalProperties: false,
          },
          description: 'Further questions that are asked together with it.',
        },
      },
      required: ['question'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        outcome: {
          type: 'string',
          enum: ['answered', 'declined', 'no_answer', 'no_person'],
          description: 'Whether the person answered, did not want to, did not in time, or cannot be asked.',
        },
        answers: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              question: { type: 'string' },
              chosen: { type: 'array', items: { type: 'string' }, description: 'Labels of options.' },
              text: { type: 'string', description: 'Their own words.' },
            },
            required: ['question', 'chosen'],
            additionalProperties: false,
          },
        },
      },
      required: ['outcome', 'answers'],
      additionalProperties: false,
    },
    compatible: askPresentation,
    decode: ({ further = [], ...first }) => [first, ...further].map((each) => toQuestion(each)),
    plan: async (questions) => ({ operations: [], planned: questions }),
    async run(questions, context) {
      const [{ question } = { question: '' }] = questions
      const message = questions.length === 1 ? question : `${questions.length} questions`
      const schema = toForm(questions)
      const asked = { mode: 'form', from: 'the model of this session', message, schema } as const
      const result = await context.elicit(asked)
      return toOutput(result, questions, context.canElicit)
    },
  })
}

function toQuestion(given: {
  question: string
  header?: string | undefined
  options?: readonly Json[] | undefined
  multi_select?: boolean | undefined
}): Question {
  const { question, header, multi_select: many = false } = given
  const options = (given.options ?? []).map(toOption)
  const labels = new Set<string>()
  for (const { label } of options) {
    if (labels.has(label)) throw invalidInput(`The option "${label}" is there twice. Leave one out.`)
    if (dropInvisible(label).trim() !== label)
      throw invalidInput(
        `The option ${JSON.stringify(label)} has spaces around it, or characters that cannot be seen. Write it without them.`,
      )
    labels.add(label)
  }
  return { question, header, options, many }
}

/** A label alone, or an object with one, as the schema says. */
function toOption(given: Json): Question['options'][number] {
  if (!isJsonObject(given)) return { label: textOf(given) }
  const { label, description } = given
  return { label: textOf(label), ...(description !== undefined && { description: textOf(description) }) }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

const longestAnswer = 4_000

/** One or two fields for each question: the options, and the person's own words. */
function toForm(questions: readonly Question[]): FormSchema {
  const isAlone = questions.length === 1
  const fields = questions.flatMap(({ question, header, options, many }, index): [string, FormField][] => {
    const title = header ?? (isAlone ? 'Answer' : question.slice(0, 200))
    const own: FormField = { type: 'string', maxLength: longestAnswer }
    if (options.length === 0) return [[`text_${index + 1}`, { ...own, title, description: question }]]
    const choices = options.map(({ label, description = '' }) => ({
      const: label,
      title: description === '' ? label : `${label}: ${description}`,
    }))
    const choice: FormField = many
      ? { type: 'array', items: { anyOf: choices } }
      : { type: 'string', oneOf: choices }
    return [
      [`chosen_${index + 1}`, { ...choice, title, description: question }],
      [`text_${index + 1}`, { ...own, title: 'In your own words', description: 'Beside the options.' }],
    ]
  })
  return { type: 'object', properties: Object.fromEntries(fields) }
}

const unanswered = {
  decline: { outcome: 'declined', text: 'The person declined to answer.' },
  cancel: { outcome: 'no_answer', text: 'No answer came.' },
} as const

function toOutput(result: ElicitationResult, questions: readonly Question[], hasPerson: boolean) {
  if (result.action !== 'accept') {
    const { outcome, text } = hasPerson
      ? unanswered[result.action]
      : { outcome: 'no_person', text: 'No person can be asked here.' }
    return toolOutput({
      content: [
        {
          type: 'text',
          text: `${text} Do not ask the same again: go on with what seems best, and say what you assumed.`,
        },
      ],
      summary: text,
      data: { outcome, answers: [] },
    })
  }
  const answers = questions.map(({ question }, index) => toAnswer(question, index, result.content ?? {}))
  return toolOutput({
    content: [{ type: 'text', text: answers.map(lineOf).join('\n') }],
    summary: 'The person answered.',
    data: { outcome: 'answered', answers },
  })
}

/** What the person answered to one question. */
type Answer = { question: string; chosen: string[]; text?: string }

function toAnswer(question: string, index: number, content: JsonObject): Answer {
  const chosen = content[`chosen_${index + 1}`]
  const text = content[`text_${index + 1}`]
  const list: readonly unknown[] = Array.isArray(chosen) ? chosen : [chosen]
  return {
    question,
    chosen: list.filter((each) => typeof each === 'string'),
    ...(typeof text === 'string' && text.trim() !== '' && { text }),
  }
}

function lineOf({ question, chosen, text }: Answer): string {
  const parts = [...chosen, ...(text === undefined ? [] : [text])]
  return `${question}\n→ ${parts.length === 0 ? '(left open)' : parts.join('; ')}`
}
