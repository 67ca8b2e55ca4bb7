import type { AgentModel, ModelPrice } from '../../contract/agent-run.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { WorkerPoolConfiguration } from '../../contract/configuration.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { poolId, poolIdForm } from '../../kit/match/pool-id.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** With what agents work that tools start. */
export interface AgentOptions {
  /** For an agent whose starter has none, such as an MCP client. Default: such calls are refused. */
  model?: AgentModel
  /** What `model` costs, for budgets of money. */
  price?: ModelPrice
  /** Models that a call or a definition may name. */
  models?: { readonly [name: string]: AgentModel }
  /** What those cost. An agent with the model of the one that started it has that one's price. */
  prices?: { readonly [name: string]: ModelPrice }
  /** Agents that one session may start in all. How many run at once is `limits.agentsPerSession`. Default 100. */
  childrenPerSession?: number
  /** Workers by the ids of their pools. Default: a pool `default` of 4. */
  workerPools?: { readonly [pool: string]: WorkerPoolConfiguration }
}

/** Every issue of these options. */
export function checkAgentOptions(given: AgentOptions | undefined): Issue[] {
  if (given === undefined) return []
  if (!isObject(given)) return [{ pointer: '/agents', code: 'wrong_type', message: 'It must be an object.' }]
  const { model, price, models = {}, prices = {}, childrenPerSession, workerPools } = given
  const named = isObject(models) ? Object.entries(models) : []
  const priced = isObject(prices) ? Object.entries(prices) : []
  return [
    ...findUnknownFields(given, fields).map((issue) => ({
      ...issue,
      pointer: `/agents${issue.pointer}`,
    })),
    ...(model === undefined ? [] : checkModel(model, '/agents/model')),
    ...(price === undefined ? [] : checkPrice(price, '/agents/price')),
    ...named.flatMap(([name, each]) => checkModel(each, pointerTo('/agents/models', name))),
    ...priced.flatMap(([name, each]) => checkPrice(each, pointerTo('/agents/prices', name))),
    ...(childrenPerSession === undefined || isCount(childrenPerSession)
      ? []
      : [
          {
            pointer: '/agents/childrenPerSession',
            code: 'wrong_value',
            message: 'It must be a whole number above zero.',
          },
        ]),
    ...checkWorkerPools(workerPools),
  ]
}

const fields = ['model', 'price', 'models', 'prices', 'childrenPerSession', 'workerPools']

function checkPrice(price: unknown, pointer: string): Issue[] {
  const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0
  if (isObject(price) && isAmount(price['input']) && isAmount(price['output'])) {
    const { cachedInput } = price
    if (cachedInput === undefined || isAmount(cachedInput)) return []
  }
  return [
    {
      pointer,
      code: 'wrong_value',
      message:
        'It must say what a million tokens cost: { input, output, cachedInput? }, each a number from zero on.',
    },
  ]
}

function checkModel(model: unknown, pointer: string): Issue[] {
  if (isObject(model) && typeof model['doStream'] === 'function') return []
  return [
    {
      pointer,
      code: 'wrong_type',
      message: "It must be a language model of the AI SDK, such as openai('gpt-5').",
    },
  ]
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}

/** Workers of one pool at most. */
const mostWorkers = 100

function checkWorkerPools(given: unknown): Issue[] {
  if (given === undefined) return []
  const pointer = '/agents/workerPools'
  if (!isObject(given)) return [{ pointer, code: 'wrong_type', message: 'It must be an object of pools.' }]
  if (Object.keys(given).length === 0)
    return [{ pointer, code: 'wrong_value', message: 'Name a pool, or leave it out.' }]
  return Object.entries(given).flatMap(([id, pool]) =>
    checkWorkerPool(pool, { id, pointer: pointerTo(pointer, id) }),
  )
}

function checkWorkerPool(pool: unknown, { id, pointer }: { id: string; pointer: string }): Issue[] {
  if (!poolId.test(id)) return [{ pointer, code: 'invalid_id', message: poolIdForm }]
  if (!isObject(pool))
    return [{ pointer, code: 'wrong_type', message: 'It must be an object with a "size".' }]
  const { size, description, definition, allowedTools } = pool
  const wrong = (field: string, message: string): Issue => ({
    pointer: `${pointer}/${field}`,
    code: 'wrong_value',
    message,
  })
  const isText = (value: unknown): boolean =>
    value === undefined || (typeof value === 'string' && value !== '')
  const isList =
    allowedTools === undefined ||
    (Array.isArray(allowedTools) && allowedTools.every((name) => typeof name === 'string'))
  return [
    ...findUnknownFields(pool, ['size', 'description', 'definition', 'allowedTools']).map((issue) => ({
      ...issue,
      pointer: `${pointer}${issue.pointer}`,
    })),
    ...(isCount(size) && Number(size) <= mostWorkers
      ? []
      : [wrong('size', `It must be a whole number from 1 to ${mostWorkers}.`)]),
    ...(isText(description) ? [] : [wrong('description', 'It must be a text.')]),
    ...(isText(definition) ? [] : [wrong('definition', 'It must be the id of an agent definition.')]),
    ...(isList ? [] : [wrong('allowedTools', 'It must be a list of names or patterns of tools.')]),
  ]
}
