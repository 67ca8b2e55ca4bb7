import { checkModelSettings } from '../../config/check-model-settings.ts'
import type { ModelSettingConfiguration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolSource } from '../../contract/base/tool.ts'
import { configTool } from '../../tools/setting/config.ts'

/** What `internal.config` shows and sets. */
export interface SettingToolsOptions {
  settings?: Readonly<Record<string, ModelSettingConfiguration>> | undefined
}

/** The built-in tool for settings that are open to models. Throws a SetupError for settings that cannot be used. */
export function settingTools({ settings = {} }: SettingToolsOptions = {}): ToolSource {
  const issues = checkModelSettings(settings)
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These options of settingTools cannot be used:', issues)
  const tools = [configTool({ ...settings })]
  return { id: 'builtin.setting', kind: 'builtin', list: () => tools }
}
