import type { AgentModel } from '../../contract/agent-run.ts'
import type { Issue } from '../../contract/base/json.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** With what agents work that tools start. */
export interface AgentOptions {
  /** For an agent whose starter has none, such as an MCP client. Default: such calls are refused. */
  model?: AgentModel
  /** Models that a call or a definition may name. */
  models?: { readonly [name: string]: AgentModel }
  /** Agents that one session may start in all. How many run at once is `limits.agentsPerSession`. Default 100. */
  childrenPerSession?: number
}

/** Every issue of these options. */
export function checkAgentOptions(given: AgentOptions | undefined): Issue[] {
  if (given === undefined) return []
  if (!isObject(given)) return [{ pointer: '/agents', code: 'wrong_type', message: 'It must be an object.' }]
  const { model, models = {}, childrenPerSession } = given
  const named = isObject(models) ? Object.entries(models) : []
  return [
    ...findUnknownFields(given, ['model', 'models', 'childrenPerSession']).map((issue) => ({
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
