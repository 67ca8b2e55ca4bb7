import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import type { Policy } from '../../../contract/policy.ts'
import { createTrial } from '../../../library/trial/create-trial.ts'
import { findIdleRules } from '../../../policy/find-idle-rules.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../exit-codes.ts'
import { writeText } from '../../show-safely.ts'
import { findPlaces, wireOptions } from '../../wire.ts'
import type { PolicyVerb } from './verb.ts'

/** `handrail policy check` */
export const checkVerb: PolicyVerb = {
  usage: '[policy.json]',
  async run(given, path) {
    const options = wireOptions(findPlaces(given))
    const policy =
      path === undefined ? (options.policy ?? {}) : loadFile(path, policyForm, createSchemaChecker())
    // A policy that has no fault in itself may still name folders that are not there.
    const trial = await createTrial({ ...options, policy })
    try {
      const idle = findIdleRules(policy, trial.definitions())
      const lines = idle.map(({ pointer, message }) => `note: ${pointer} ${message}`)
      writeText(process.stdout, [...lines, `${count(policy)}: no fault.`, ''].join('\n'))
      return exitCodes.ok
    } finally {
      await trial.close()
    }
  },
}

function count({ rules = [], grants, tenants, budgets, obligations }: Policy): string {
  const parts = [`${rules.length} rules`]
  if (grants !== undefined) parts.push(`${grants.length} grants`)
  if (tenants !== undefined) parts.push(`${Object.keys(tenants).length} tenants`)
  if (budgets !== undefined) parts.push(`${budgets.length} budgets`)
  if (obligations !== undefined) parts.push(`${obligations.length} obligations`)
  return parts.join(', ')
}
