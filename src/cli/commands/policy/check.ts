import { policyForm } from '../../../config/check-file.ts'
import { findPart, nameOfPlace } from '../../../config/gateway-parts.ts'
import { noFile, readFile } from '../../../config/load-configuration.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import type { Issue } from '../../../contract/base/json.ts'
import type { Policy, TenantPolicy } from '../../../contract/policy.ts'
import type { ToolDefinition } from '../../../contract/tool/tool.ts'
import { pointerTo } from '../../../kit/json/json-pointer.ts'
import { issuesOf } from '../../../compose/options/run-together.ts'
import { createSimulation } from '../../../compose/simulation/create-simulation.ts'
import type { IdleRule } from '../../../policy/find-idle-rules.ts'
import { findMisspelt, notePolicy } from '../../../policy/note-policy.ts'
import { createSchemaChecker } from '../../../schema/create-schema-checker.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { wireSimulation } from '../../setup/wire-simulation.ts'
import { findPlaces, type Places } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail policy check` */
export const checkVerb: ToolsVerb = {
  async run(given, path) {
    const places = findPlaces(given)
    const place = path === undefined ? findPart(places.home, 'policy') : { path, field: undefined }
    const { part, there, issues } = readFile(place, policyForm, createSchemaChecker())
    // The schema of a policy was held against it.
    const policy = (part ?? {}) as Policy
    const nameOf = (pointer: string) => nameOfPlace(place, pointer)
    const faulty = issues.map(({ pointer }) => pointer.slice(nameOf('').length))
    const { definitions, ofTenants, ofOthers } = await lookAround(places, tenantPlaces(policy, faulty))
    const misspelt = findMisspelt(policy, definitions)
    const all = [
      ...(there || path === undefined ? issues : [noFile(path)]),
      ...inFile(ofTenants, nameOf),
      ...ofOthers,
    ]
    if (all.length > 0) throw refusal([...all, ...inFile(misspelt, nameOf)])
    const notes = notePolicy(policy, definitions)
    if (given.options['json'] === true) writeJson({ ...countParts(policy), notes })
    else writeText(process.stdout, toPage(policy, notes))
    return exitCodes.ok
  },
}

/** What the files beside the policy say: the tools that are here, and the issues of these files and of the folders of tenants. */
interface Around {
  readonly definitions: readonly ToolDefinition[]
  readonly ofTenants: readonly Issue[]
  readonly ofOthers: readonly Issue[]
}

async function lookAround(places: Places, tenants: Policy): Promise<Around> {
  try {
    const simulation = await createSimulation(await wireSimulation(places, tenants))
    try {
      return { definitions: simulation.definitions(), ofTenants: simulation.findTenantIssues(), ofOthers: [] }
    } finally {
      await simulation.close()
    }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return { definitions: [], ofTenants: [], ofOthers: issuesOf(error) }
  }
}

/** A policy that names the tenants alone, and of their folders those in which no issue was found. */
function tenantPlaces({ tenants }: Policy, faulty: readonly string[]): Policy {
  if (tenants === undefined) return {}
  const named = Object.entries(tenants).filter(([id]) => !faulty.includes(pointerTo('/tenants', id)))
  const placesOf = (id: string, tenant: TenantPolicy) =>
    (['project', 'readRoots', 'writeRoots'] as const)
      .filter((field) => tenant[field] !== undefined)
      .filter((field) => !faulty.some((each) => each.startsWith(`${pointerTo('/tenants', id)}/${field}`)))
      .map((field) => [field, tenant[field]])
  return {
    tenants: Object.fromEntries(named.map(([id, tenant]) => [id, Object.fromEntries(placesOf(id, tenant))])),
  }
}

/** An issue of a file that two of its parts have is told once. */
function refusal(issues: readonly Issue[]): SetupError {
  const once = new Map(issues.map((issue) => [`${issue.pointer} ${issue.message}`, issue]))
  return new SetupError('invalid_configuration', 'The policy cannot be used:', [...once.values()])
}

function inFile(issues: readonly Issue[], nameOf: (pointer: string) => string): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: nameOf(issue.pointer) }))
}

function toPage(policy: Policy, notes: readonly IdleRule[]): string {
  const parts = Object.entries(countParts(policy))
    .filter(([name, count]) => count > 0 || name === 'rules')
    .map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`)
  const lines = notes.map(({ pointer, message }) => `note: ${pointer} ${message}`)
  return `${[...lines, `${parts.join(', ')}: no issue.`].join('\n')}\n`
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
