import type { Configuration, ProjectConfiguration } from '../contract/configuration.ts'
import type { CommandHook } from '../contract/hook.ts'
import type { Fault } from '../contract/json.ts'
import type { Policy } from '../contract/policy.ts'
import type { GatewayConfiguration } from '../contract/serving.ts'
import type { JsonSchema, SchemaChecker } from '../contract/schema.ts'
import { checkConfiguration, checkHook, checkProject } from './check-configuration.ts'
import { checkGateway } from './check-gateway.ts'
import { checkPolicy } from './check-policy.ts'
import { commandHookSchema, configurationSchema, projectSchema } from './file-schemas.ts'
import { gatewaySchema } from './gateway-schema.ts'
import { policySchema } from './policy-schema.ts'

/** What a kind of file, or a part of one, must look like, and what must be true of it beyond that. */
export interface Form<File> {
  readonly schema: JsonSchema
  check(file: File, checker: SchemaChecker): readonly Fault[]
}

export const configurationForm: Form<Configuration> = {
  schema: configurationSchema,
  check: checkConfiguration,
}
export const policyForm: Form<Policy> = { schema: policySchema, check: checkPolicy }
export const projectForm: Form<ProjectConfiguration> = { schema: projectSchema, check: checkProject }
export const gatewayForm: Form<GatewayConfiguration> = { schema: gatewaySchema, check: checkGateway }
export const hookForm: Form<CommandHook> = { schema: commandHookSchema, check: checkHook }

/** Every fault of a value that should have this form, or the value as what it is. */
export function checkFile<File>(
  value: unknown,
  form: Form<File>,
  checker: SchemaChecker,
): { file: File; faults: readonly Fault[] } | { file: undefined; faults: readonly Fault[] } {
  const checked = checker.check(form.schema, value)
  if (!checked.ok) return { file: undefined, faults: checked.faults }
  // The schema of this form has just been held against the value.
  const file = checked.value as File
  return { file, faults: form.check(file, checker) }
}
