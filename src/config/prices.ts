import type { ModelPrice } from '../contract/agent-run.ts'
import type { Issue } from '../contract/base/json.ts'
import type { JsonSchema, SchemaChecker } from '../contract/base/schema.ts'
import type { Form } from './check-file.ts'
import { SetupError } from '../contract/base/errors.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { readFile } from './load-configuration.ts'
import { described, object, text } from './base/schema-parts.ts'

/** What models cost, by the names under which runs take them. */
export interface Prices {
  readonly $schema?: string
  readonly [model: string]: ModelPrice | string | undefined
}

const amount: JsonSchema = { type: 'number', minimum: 0 }

const needed = ['input', 'output'] as const

function pricesOf(required: readonly string[]): JsonSchema {
  const price = object(
    {
      input: described(amount, 'Of a million tokens that the model reads.'),
      output: described(amount, 'Of a million tokens that the model writes.'),
      cachedInput: described(
        amount,
        'Of a million tokens that the provider had cached. Default: that of the input.',
      ),
    },
    {
      description: 'What a model costs, in the unit of the budgets of the policy.',
      required: [...required],
    },
  )
  return {
    type: 'object',
    description: 'What models cost, by names such as "openai/gpt-5", as "handrail run --model" takes them.',
    properties: { $schema: text },
    additionalProperties: price,
  }
}

/** `<home>/prices.json`. */
export const pricesSchema: JsonSchema = pricesOf(needed)

/** What is missing is found with the names, so that all issues are told at once. */
const pricesForm: Form<Prices> = { schema: pricesOf([]), check: checkPrices }

function checkPrices(prices: Prices): Issue[] {
  return Object.entries(prices).flatMap(([name, price]): Issue[] => {
    if (typeof price !== 'object') return []
    const pointer = pointerTo('', name)
    const missing = needed.filter((field) => price[field] === undefined)
    return [
      ...(/^\S+[/:]\S+$/.test(name) ? [] : [{ pointer, code: 'wrong_value', message: wrongName }]),
      ...missing.map((field) => ({
        pointer: pointerTo(pointer, field),
        code: 'missing',
        message: `The field "${field}" is missing; give a number.`,
      })),
    ]
  })
}

const wrongName = 'It is not the name of a model. Write it as for "--model", such as "openai/gpt-5".'

/** Reads a file of prices; a missing one says nothing. Throws a SetupError with every issue. */
export function loadPrices(path: string, checker: SchemaChecker): Prices {
  const { file = {}, issues } = readFile({ path, field: undefined }, pricesForm, checker)
  // A field that is wrong is not missing as well.
  const first = [...new Map(issues.toReversed().map((issue) => [issue.pointer, issue])).values()]
  if (first.length > 0)
    throw new SetupError(
      'invalid_configuration',
      'The prices cannot be used. Nothing was started:',
      first.toReversed(),
    )
  return file
}

/** What a model costs; undefined if the prices do not say. */
export function priceOf(prices: Prices, model: string): ModelPrice | undefined {
  const found = Object.hasOwn(prices, model) ? prices[model] : undefined
  return typeof found === 'object' ? found : undefined
}
