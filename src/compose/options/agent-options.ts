import type { AgentModel } from '../../contract/agent-run.ts'
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
  /** Models that a call or a definition may name. */
  models?: { readonly [name: string]: AgentModel }
  /** Agents that one session may start in all. How many run at once is `limits.agentsPerSession`. Default 100. */
  childrenPerSession?: number
  /** Workers by the ids of their pools. Default: a pool `default` of 4. */
  workerPools?: { readonly [pool: string]: WorkerPoolConfiguration }
}

/** Every issue of these options. */
export function checkAgentOptions(given: AgentOptions | undefined): Issue[] {
  if (given === undefined) return []
  if (!isObject(given)) return [{ pointer: '/agents', code: 'wrong_type', message: 'It must be an object.' }]
  const { model, models = {}, childrenPerSession, workerPools } = given
  const named = isObject(models) ? Object.entries(models) : []
  return [
    ...findUnknownFields(given, ['model', 'models', 'childrenPerSession', 'workerPools']).map((issue) => ({
      ...issue,
      pointer: `/agents${issue.pointer}`,
    })),
    ...(model === undefined ? [] : checkModel(model, '/agents/model')),
    ...named.flatMap(([name, each]) => checkModel(each, pointerTo('/agents/models', name))),
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
