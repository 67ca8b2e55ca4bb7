import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import { SetupError } from '../../../contract/errors.ts'
import type { Policy } from '../../../contract/policy.ts'
import { createTrial } from '../../../library/trial/create-trial.ts'
import { findIdleRules, type IdleRule } from '../../../policy/find-idle-rules.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../exit-codes.ts'
import { writeJson, writeText } from '../../show-safely.ts'
import { wireTrial } from '../../wire-trial.ts'
import { findPlaces } from '../../wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy check` */
export const checkVerb: ToolsVerb = {
  async run(given, path) {
    const options = await wireTrial(findPlaces(given))
    const policy =
      path === undefined ? (options.policy ?? {}) : loadFile(path, policyForm, createSchemaChecker())
    // A policy that has no fault in itself may still name folders that are not there.
    const trial = await createTrial({ ...options, policy })
    try {
      const faults = trial.findTenantFaults()
      if (faults.length > 0)
        throw new SetupError('invalid_configuration', 'The policy cannot be used:', faults)
      const notes = findIdleRules(policy, trial.definitions())
      if (given.options['json'] === true) writeJson({ ...countParts(policy), notes })
      else writeText(process.stdout, toPage(policy, notes))
      return exitCodes.ok
    } finally {
      await trial.close()
    }
  },
}

function toPage(policy: Policy, notes: readonly IdleRule[]): string {
  const parts = Object.entries(countParts(policy))
    .filter(([name, count]) => count > 0 || name === 'rules')
    .map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`)
  const lines = notes.map(({ pointer, message }) => `note: ${pointer} ${message}`)
  return `${[...lines, `${parts.join(', ')}: no fault.`].join('\n')}\n`
}

function countParts({ rules = [], grants = [], tenants = {}, budgets = [], obligations = [] }: Policy) {
  return {
    rules: rules.length,
    grants: grants.length,
    tenants: Object.keys(tenants).length,
    budgets: budgets.length,
    obligations: obligations.length,
  }
}
