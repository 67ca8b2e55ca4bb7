import type { ModelSettingConfiguration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'

/** What a schema cannot say of settings that fit it. */
export function checkModelSettings(
  settings: Readonly<Record<string, ModelSettingConfiguration>> | undefined,
): Issue[] {
  return Object.entries(settings ?? {}).flatMap(([key, setting]): Issue[] => {
    const { type, enum: values, default: usual } = setting
    const at = pointerTo('/modelSettings', key)
    const wrong = (values ?? []).filter((value) => typeof value !== type)
    return [
      ...(wrong.length === 0
        ? []
        : [{ pointer: `${at}/enum`, code: 'wrong_type', message: `Each value must be a ${type}.` }]),
      ...(usual === undefined || (typeof usual === type && (values?.includes(usual) ?? true))
        ? []
        : [
            {
              pointer: `${at}/default`,
              code: 'wrong_value',
              message: 'It must be one of the values that there are.',
            },
          ]),
    ]
  })
}
