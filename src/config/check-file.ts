import type { Configuration, ProjectConfiguration } from '../contract/configuration.ts'
import type { CommandHook } from '../contract/hook.ts'
import type { Issue } from '../contract/base/json.ts'
import type { Policy } from '../contract/policy.ts'
import type { GatewayConfiguration } from '../contract/mcp/serving.ts'
import type { JsonSchema, SchemaChecker } from '../contract/base/schema.ts'
import { valueAt } from '../kit/json/json-pointer.ts'
import { asConstant } from '../kit/schema/constant-schemas.ts'
import { checkConfiguration, checkHook, checkProject } from './check-configuration.ts'
import { checkGateway, describeDigest } from './check-gateway.ts'
import { checkPolicy } from './policy/check-policy.ts'
import { commandHookSchema, configurationSchema, projectSchema } from './file-schemas.ts'
import { gatewaySchema } from './gateway-schema.ts'
import { policySchema } from './policy/policy-schema.ts'
import { closeHoles, soundPart } from './sound-part.ts'

/** What a kind of file, or a part of one, must look like, and what must be true of it beyond that. */
export interface Form<File> {
  readonly schema: JsonSchema
  check(file: File, checker: SchemaChecker): readonly Issue[]
  /** An issue of form in words that say more than a schema can. Default: as it is. */
  inWords?(issue: Issue, value: unknown): Issue
}

export const configurationForm: Form<Configuration> = {
  schema: asConstant(configurationSchema),
  check: checkConfiguration,
}
export const policyForm: Form<Policy> = { schema: asConstant(policySchema), check: checkPolicy }
export const projectForm: Form<ProjectConfiguration> = {
  schema: asConstant(projectSchema),
  check: checkProject,
}
export const gatewayForm: Form<GatewayConfiguration> = {
  schema: asConstant(gatewaySchema),
  check: checkGateway,
  inWords: describeDigest,
}
export const hookForm: Form<CommandHook> = { schema: asConstant(commandHookSchema), check: checkHook }

/** Of a value that should have a form: every issue, and the value as what it is. */
export interface CheckedFile<File> {
  /** Undefined if the value has not the form. */
  readonly file: File | undefined
  /** What of it has the form, with holes in the place of entries of lists that have not; undefined if nothing has. */
  readonly part: unknown
  readonly issues: readonly Issue[]
}

/** Every issue of a value that should have this form, those of form and of sense together. */
export function checkFile<File>(value: unknown, form: Form<File>, checker: SchemaChecker): CheckedFile<File> {
  const checked = checker.check(form.schema, value)
  if (!checked.ok) return checkPart(value, { form, issues: checked.issues }, checker)
  // The schema of this form has just been held against the value.
  const file = value as File
  return { file, part: value, issues: form.check(file, checker) }
}

/**
 * What has the form is checked on, so that its issues are not found only when the others are mended. Of an entry of a list that has an issue of form, only
 * the items of its own lists are judged: what it says as a whole is not known.
 */
function checkPart<File>(
  value: unknown,
  { form, issues }: { form: Form<File>; issues: readonly Issue[] },
  checker: SchemaChecker,
): CheckedFile<File> {
  const partWithout = (leaveOut: 'value' | 'entry') => {
    const part = soundPart(value, form.schema, { issues, leaveOut })
    return checker.check(form.schema, closeHoles(part)).ok ? part : undefined
  }
  const check = (part: unknown) => (part === undefined ? [] : form.check(part as File, checker))
  const [part, entries] = [partWithout('value'), partWithout('entry')]
  const isItemOfFaulty = ({ pointer }: Issue) =>
    /\/\d+$/.test(pointer) && valueAt(entries, pointer.replace(/\/[^/]+\/\d+$/, '')) === undefined
  return {
    file: undefined,
    part,
    issues: [
      ...issues.map((issue) => form.inWords?.(issue, value) ?? issue),
      ...check(entries),
      ...check(part).filter(isItemOfFaulty),
    ],
  }
}
