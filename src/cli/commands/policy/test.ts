import { loadFile } from '../../../config/load-configuration.ts'
import { policyCasesForm } from '../../../config/policy-cases.ts'
import { createTrial } from '../../../library/trial/create-trial.ts'
import { testPolicy, type CaseFailure } from '../../../library/trial/test-policy.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../exit-codes.ts'
import { toExplanationPage } from '../../explanation-page.ts'
import { writeText } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
import { findPlaces, wireOptions } from '../../wire.ts'
import type { PolicyVerb } from './verb.ts'

/** `handrail policy test` */
export const testVerb: PolicyVerb = {
  usage: '<cases.json> [--json]',
  async run(given, path) {
    if (path === undefined) throw new UsageError(`Name a file: handrail policy test ${testVerb.usage}`)
    const { cases } = loadFile(path, policyCasesForm, createSchemaChecker())
    const trial = await createTrial(wireOptions(findPlaces(given)))
    try {
      const failures = await testPolicy(cases, trial)
      if (given.options['json'] === true)
        process.stdout.write(`${JSON.stringify({ cases: cases.length, failures }, null, 2)}\n`)
      else writeText(process.stdout, toPage(failures, cases.length))
      return failures.length === 0 ? exitCodes.ok : exitCodes.toolError
    } finally {
      await trial.close()
    }
  },
}

function toPage(failures: readonly CaseFailure[], cases: number): string {
  const parts = failures.map(({ name, expected, found, ruling }) => {
    const head = `✗ ${name}\n  expected  ${expected}\n  found     ${found}\n`
    if (ruling.report !== undefined) return `${head}\n${indent(toExplanationPage(ruling.report))}\n`
    return `${head}  because   ${ruling.reason}\n`
  })
  const end =
    failures.length === 0
      ? `All ${cases} cases hold.\n`
      : `${failures.length} of ${cases} cases do not hold.\n`
  return [...parts, end].join('\n')
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ').trimEnd()
}
