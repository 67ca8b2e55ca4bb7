import { checkTriggers } from '../../config/check-triggers.ts'
import type { TriggerConfiguration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolSource } from '../../contract/base/tool.ts'
import { triggerTool } from '../../tools/remote/trigger.ts'

/** What `remote.trigger` may start. */
export interface TriggerToolsOptions {
  /** By the name that models use. A secret that one names is one of the runtime's `secrets`. */
  triggers?: Readonly<Record<string, TriggerConfiguration>> | undefined
}

/** The built-in tool that starts declared things on other machines. Throws a SetupError for triggers that cannot be used. */
export function triggerTools({ triggers = {} }: TriggerToolsOptions = {}): ToolSource {
  const issues = checkTriggers(triggers)
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These options of triggerTools cannot be used:', issues)
  const tools = [triggerTool({ ...triggers })]
  return { id: 'builtin.remote', kind: 'builtin', list: () => tools }
}
