import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import {
  capabilityNames,
  toolStates,
  type CapabilityName,
  type DiscoveredTool,
  type Registered,
  type ToolQuery,
  type ToolStatus,
} from '../../contract/registry.ts'
import type { Capabilities, ToolDefinition } from '../../contract/tool/tool.ts'

/** The tools of a list that a query asks for, in the same order. Throws a SetupError for a query that makes no sense. */
export function discover(
  tools: readonly Registered[],
  query: ToolQuery,
  statusOf: (registered: Registered) => ToolStatus,
): DiscoveredTool[] {
  checkQuery(query)
  const found: DiscoveredTool[] = []
  const words = (query.keyword ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  for (const registered of tools) {
    if (found.length >= (query.limit ?? Number.POSITIVE_INFINITY)) break
    if (!isWanted(registered.definition, query) || !mentions(registered.definition, words)) continue
    const status = statusOf(registered)
    if (query.state === undefined || status.state === query.state)
      found.push(toDiscovered(registered, status))
  }
  return found
}

function isWanted(definition: ToolDefinition, query: ToolQuery): boolean {
  const { group, tags = [], safety, sideEffect, capability } = query
  return (
    (group === undefined || definition.name.startsWith(`${group}.`)) &&
    tags.every((tag) => definition.tags.includes(tag)) &&
    (safety === undefined || definition.safety === safety) &&
    (sideEffect === undefined || definition.sideEffect === sideEffect) &&
    (capability === undefined || capabilitiesOf(definition.capabilities).includes(capability))
  )
}

function mentions(definition: ToolDefinition, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const { name, title, description, tags } = definition
  const text = [name, title, description, ...tags].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}

function toDiscovered(registered: Registered, status: ToolStatus): DiscoveredTool {
  const { definition, source, digest } = registered
  const { name, title, version, description, tags, safety, sideEffect, compatibility } = definition
  const capabilities = capabilitiesOf(definition.capabilities).filter((capability) => capability !== 'fs')
  return {
    name,
    title,
    version,
    description,
    tags,
    safety,
    sideEffect,
    capabilities,
    compatibility,
    source,
    digest,
    status,
  }
}

function capabilitiesOf({ fs, net, proc, browser, tmp, secrets }: Capabilities): CapabilityName[] {
  const has: { readonly [name in CapabilityName]: boolean } = {
    fs: fs.read.length + fs.write.length > 0,
    'fs.read': fs.read.length > 0,
    'fs.write': fs.write.length > 0,
    net: net.hosts.length > 0,
    proc: proc.executables.length > 0,
    browser,
    tmp,
    secrets: secrets.length > 0,
  }
  return capabilityNames.filter((name) => has[name])
}

const fields = [
  'tenant',
  'group',
  'tags',
  'safety',
  'sideEffect',
  'capability',
  'keyword',
  'state',
  'limit',
] as const satisfies readonly (keyof ToolQuery)[]
const words: { readonly [field in keyof ToolQuery]?: readonly string[] } = {
  safety: ['low', 'medium', 'high'],
  sideEffect: ['none', 'read', 'write', 'network', 'filesystem', 'browser', 'process'],
  capability: capabilityNames,
  state: toolStates,
}

function checkQuery(query: ToolQuery): void {
  const issues: Issue[] = []
  const values: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(words))
  for (const [field, value] of Object.entries(query)) {
    const known = values.get(field)
    if (!fields.some((name) => name === field))
      issues.push({
        pointer: `/${field}`,
        code: 'unknown_field',
        message: `Tools cannot be looked for by "${field}"; use ${fields.join(', ')}.`,
      })
    else if (known !== undefined && value !== undefined && !known.some((word) => word === value))
      issues.push({
        pointer: `/${field}`,
        code: 'unknown_value',
        message: `${JSON.stringify(value)} is none of ${known.join(', ')}.`,
      })
  }
  if (query.limit !== undefined && (!Number.isSafeInteger(query.limit) || query.limit < 1))
    issues.push({
      pointer: '/limit',
      code: 'invalid_limit',
      message: `${query.limit} is not a limit; use a whole number from 1 on.`,
    })
  if (issues.length > 0) throw new SetupError('invalid_options', 'The query cannot be used:', issues)
}
