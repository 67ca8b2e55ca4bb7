import type { Configuration } from '../contract/configuration.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { examineMachine } from '../sandboxes/doctor/examine-machine.ts'
import type { Finding } from '../sandboxes/doctor/finding.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { resolveSandbox } from './options/resolve-sandbox.ts'
import { resolveRuntimeOptions } from './options/resolve-options.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

/** What holds on this machine of what a runtime of these options needs. Throws a SetupError where they make no runtime. */
export function examineSetup(
  options: RuntimeOptions & Pick<Configuration, 'sandbox'>,
): Promise<readonly Finding[]> {
  const { project, home, env } = resolveRuntimeOptions(options, createSchemaChecker())
  const withHosts = (options.tools ?? []).some((given) =>
    ('list' in given ? given.list() : [given]).some(({ definition }) => reachesByProgram(definition)),
  )
  return examineMachine({ project, home, env, withHosts, ...resolveSandbox(options.sandbox) })
}

function reachesByProgram({ capabilities }: ToolDefinition): boolean {
  return capabilities.net.hosts.length > 0 && capabilities.proc.executables.length > 0
}
