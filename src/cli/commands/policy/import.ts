import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { checkFile, policyForm } from '../../../config/check-file.ts'
import { importRules } from '../../../config/import-rules/import-rules.ts'
import type { ImportedRules } from '../../../config/import-rules/imported-rules.ts'
import { mergePolicy } from '../../../config/import-rules/merge-policy.ts'
import { findPart } from '../../../config/gateway-parts.ts'
import { loadFile } from '../../../config/load-configuration.ts'
import { readJsonFile } from '../../../config/base/read-json-file.ts'
import { whileChanging } from '../../../config/base/while-changing.ts'
import { writeJsonFile } from '../../../config/base/write-json-file.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { Issue } from '../../../contract/base/json.ts'
import type { Policy } from '../../../contract/policy.ts'
import { createSimulation } from '../../../compose/simulation/create-simulation.ts'
import { realPlace } from '../../../compose/options/resolve-places.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { toImportPage } from '../../render/import-page.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces, makeHome, type Places } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy import` */
export const importVerb: ToolsVerb = {
  async run(given, path = '') {
    const places = findPlaces(given)
    const { path: file, field } = findPart(places.home, 'policy')
    if (field !== undefined)
      throw new UsageError(
        `The policy stands in "${file}", and rules are only added to a policy.json. Take it out of there into a file of its own first.`,
      )
    const project = projectOf(path, places)
    const imported = readRules(path, project)
    const read = (): Policy => (existsSync(file) ? loadFile(file, policyForm, createSchemaChecker()) : {})
    const present = read()
    const { policy, added, addsMode } = mergePolicy(present, imported)
    await checkMerged(policy, file, places)
    const write = given.options['write'] === true
    if (write && (addsMode || added.length > 0)) {
      makeHome(places.home)
      whileChanging(places.home, () => {
        if (isDeepStrictEqual(read(), present)) return writeJsonFile(file, policy)
        throw new SetupError(
          'file_changed',
          `"${file}" was changed meanwhile. Nothing was changed: try again.`,
        )
      })
    }
    const report = { project, ...imported, added: added.length, policy: file, written: write }
    if (given.options['json'] === true) writeJson(report)
    else writeText(process.stdout, toImportPage(report))
    return exitCodes.ok
  },
}

/** The project whose settings these are; undefined for those of the person, which hold in every project. */
function projectOf(path: string, { project }: Places): string | undefined {
  const folder = dirname(realPlace(path))
  if (basename(folder) !== '.claude') return realPlace(project)
  const owner = dirname(folder)
  return owner === realPlace(homedir()) ? undefined : owner
}

function readRules(path: string, project: string | undefined): ImportedRules {
  const missing = { pointer: '', code: 'missing', message: 'There is no such file. Name another one.' }
  const read = readJsonFile(path) ?? { issues: [missing] }
  if ('issues' in read) throw unreadable(path, read.issues)
  try {
    return importRules(read.value, { ...(project !== undefined && { project }) })
  } catch (error) {
    throw error instanceof SetupError ? unreadable(path, error.issues) : error
  }
}

function unreadable(path: string, issues: readonly Issue[]): SetupError {
  return new SetupError('invalid_configuration', 'The settings cannot be read:', inFile(path, issues))
}

/** The issues that `policy check` would find. */
async function checkMerged(policy: Policy, file: string, places: Places): Promise<void> {
  const { issues } = checkFile(policy, policyForm, createSchemaChecker())
  if (issues.length > 0)
    throw new SetupError(
      'invalid_configuration',
      'With these rules, the policy would have issues. Nothing was written:',
      inFile(file, issues),
    )
  const simulation = await createSimulation({ ...(await wireSimulation(places)), policy })
  await simulation.close()
}

function inFile(path: string, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: `${path}#${issue.pointer}` }))
}
