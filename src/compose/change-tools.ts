import { SetupError } from '../contract/base/errors.ts'
import type { Issue } from '../contract/base/json.ts'
import type { DefinitionApproval, RegisterOptions, RemoveOptions } from '../contract/registry.ts'
import type { Runtime } from '../contract/runtime.ts'
import type { Tool, ToolSource } from '../contract/tool/tool.ts'
import type { ChangingRegistry } from '../registry/create-registry.ts'
import { isBuiltin } from '../kit/builtin-tools.ts'
import { checkTools, isTool, isToolSource } from './options/check-options.ts'
import { findUnknownFields } from '../kit/json/find-unknown-fields.ts'
import { findUnknownValue } from '../kit/json/find-unknown-value.ts'

type ToolChanges = Pick<Runtime, 'register' | 'remove' | 'setToolState' | 'approveDefinition'>

interface Surroundings {
  registry: ChangingRegistry
  findTenantIssue: (tenant: string) => string | undefined
}

const registerFields: readonly (keyof RegisterOptions)[] = [
  'duplicates',
  'tenants',
  'update',
  'downgrade',
  'state',
  'by',
]
const removeFields: readonly (keyof RemoveOptions)[] = ['tenants', 'by']
const approvalFields: readonly (keyof DefinitionApproval)[] = ['digest', 'by', 'tenant']

/** What a runtime can change of its tools; everything wrong with what it is given is thrown at once. */
export function createToolChanges({ registry, findTenantIssue }: Surroundings): ToolChanges {
  const checkTenants = (tenants: readonly string[] = []): void => {
    for (const tenant of tenants) {
      const issue = findTenantIssue(tenant)
      if (issue !== undefined) throw new SetupError('unknown_tenant', issue)
    }
  }
  return {
    async register(tools, options = {}) {
      refuse('Nothing was registered:', [...checkTools(tools), ...checkRegisterOptions(options)])
      checkTenants(options.tenants)
      await registry.register(toSources(tools), options)
    },
    async remove(names, options = {}) {
      refuse('Nothing was removed:', [
        ...findUnknownFields(options, removeFields),
        ...checkTenantList(options.tenants),
      ])
      checkTenants(options.tenants)
      await registry.remove(names, options)
    },
    async setToolState(name, state, change) {
      if (change.tenant !== undefined) checkTenants([change.tenant])
      await registry.changeState(name, state, change)
    },
    async approveDefinition(name, approval) {
      refuse('Nothing was approved:', findUnknownFields(approval, approvalFields))
      if (approval.tenant !== undefined) checkTenants([approval.tenant])
      await registry.approve(name, approval)
    },
  }
}

function refuse(message: string, issues: readonly Issue[]): void {
  const isAboutTools = issues.some((issue) => issue.pointer.startsWith('/tools'))
  if (issues.length > 0)
    throw new SetupError(isAboutTools ? 'invalid_definition' : 'invalid_options', message, issues)
}

function checkRegisterOptions(options: RegisterOptions): Issue[] {
  return [
    ...findUnknownFields(options, registerFields),
    ...findUnknownValue('/duplicates', options.duplicates, ['error', 'keep-first', 'replace']),
    ...findUnknownValue('/state', options.state, ['registered', 'enabled']),
    ...checkTenantList(options.tenants),
  ]
}

function checkTenantList(tenants: unknown): Issue[] {
  const isList = Array.isArray(tenants) && tenants.length > 0 && tenants.every(isNamed)
  if (tenants === undefined || isList) return []
  return [
    {
      pointer: '/tenants',
      code: 'wrong_type',
      message: 'Give a list of tenants with at least one in it, or leave it out for all.',
    },
  ]
}

function isNamed(tenant: unknown): boolean {
  return typeof tenant === 'string' && tenant !== ''
}

/** A single tool is a source of its own, `code`, or what Handrail's own tools are of. What is neither tool nor source is an issue of the options, found there. */
export function toSources(tools: readonly (Tool | ToolSource)[]): ToolSource[] {
  return tools.filter((given) => isToolSource(given) || isTool(given)).map(toSource)
}

function toSource(given: Tool | ToolSource): ToolSource {
  if ('list' in given) return given
  const list = (): Tool[] => [given]
  return isBuiltin(given) ? { id: 'builtin', kind: 'builtin', list } : { id: 'code', kind: 'code', list }
}
