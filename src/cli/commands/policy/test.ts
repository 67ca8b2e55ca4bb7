import { policyForm } from '../../../config/check-file.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import { policyCasesForm } from '../../../config/policy-cases.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import { createSimulation } from '../../../compose/simulation/create-simulation.ts'
import { findMissing } from '../../../compose/simulation/find-missing.ts'
import { testPolicy, type CaseFailure } from '../../../compose/simulation/test-policy.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { decisionLines, stepLines } from '../../render/explanation-page.ts'
import { writeText } from '../../base/show-safely.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy test`. Exit code 0 where every case holds. */
export const testVerb: ToolsVerb = {
  async run(given, path = '') {
    const checker = createSchemaChecker()
    const { cases } = loadFile(path, policyCasesForm, checker)
    const own = readText(given, 'policy')
    const options = await wireSimulation(findPlaces(given))
    const simulation = await createSimulation(
      own === undefined ? options : { ...options, policy: loadFile(own, policyForm, checker) },
    )
    try {
      const missing = findMissing(cases, simulation).map((issue) => ({
        ...issue,
        pointer: `${path}#${issue.pointer}`,
      }))
      if (missing.length > 0)
        throw new SetupError('invalid_configuration', 'The file cannot be used:', missing)
      const failures = await testPolicy(cases, simulation)
      if (given.options['json'] === true)
        process.stdout.write(`${JSON.stringify({ cases: cases.length, failures }, null, 2)}\n`)
      else writeText(process.stdout, toPage(failures, cases.length))
      return failures.length === 0 ? exitCodes.ok : exitCodes.toolError
    } finally {
      await simulation.close()
    }
  },
}

function toPage(failures: readonly CaseFailure[], cases: number): string {
  const all = cases === 1 ? '1 case' : `${cases} cases`
  return [
    ...failures.map(toBlock),
    failures.length === 0 ? `${all}: as expected.\n` : `${all}: ${failures.length} not as expected.\n`,
  ].join('\n')
}

function toBlock({ name, expected, found, decision }: CaseFailure): string {
  const head = [`✗ ${name}`, `  expected  ${expected}`, `  found     ${found}`]
  const { report } = decision
  const why =
    report === undefined ? [`because ${decision.reason}`] : [...stepLines(report), ...decisionLines(report)]
  return `${[...head, ...why.map((line) => `    ${line}`)].join('\n')}\n`
}
