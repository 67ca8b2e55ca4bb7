import type { AgentsConfiguration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { findBaseUrlFlaw, modelNameForm, parseModelName } from './base/model-name.ts'

/** What a schema cannot say of named models that fit it. */
export function checkAgentModels(models: AgentsConfiguration['models'] = {}): Issue[] {
  return Object.entries(models).flatMap(([name, given]): Issue[] => {
    const pointer = pointerTo('/agents/models', name)
    const { model, baseUrl } = typeof given === 'string' ? { model: given, baseUrl: undefined } : given
    const flaw = baseUrl === undefined ? undefined : findBaseUrlFlaw(baseUrl)
    return [
      ...(parseModelName(model) === undefined
        ? [
            {
              pointer: typeof given === 'string' ? pointer : `${pointer}/model`,
              code: 'wrong_value',
              message: `It names no model. ${modelNameForm}`,
            },
          ]
        : []),
      ...(flaw === undefined
        ? []
        : [{ pointer: `${pointer}/baseUrl`, code: 'wrong_value', message: `It ${flaw}` }]),
    ]
  })
}
