import type { Issue } from '../../contract/base/json.ts'
import type { Policy, TenantPolicy } from '../../contract/policy.ts'
import { idForm, isId } from '../../kit/match/is-id.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { checkEach } from '../base/check-lists.ts'
import { checkRules } from './check-rules.ts'
import { findStrictest, findVainRules, type StrictestRules } from './find-conflicts.ts'
import { findToolFlaw } from '../base/find-flaw.ts'

/** What a schema cannot say of the tenants of a policy. */
export function checkTenants(policy: Policy): Issue[] {
  let found: StrictestRules | undefined
  const strictest = () => (found ??= findStrictest(policy.rules ?? []))
  return Object.entries(policy.tenants ?? {}).flatMap(([id, tenant]) => {
    const pointer = pointerTo('/tenants', id)
    return [...checkTenantId(id, pointer), ...checkTenant(tenant, pointer, { ...policy, strictest })]
  })
}

/** An id that no tenant can have. */
export function checkTenantId(id: string, pointer: string): Issue[] {
  if (isId(id)) return []
  const message = `"${id.slice(0, 80)}" is not an id of a tenant: use ${idForm}.`
  return [{ pointer, code: 'invalid_id', message }]
}

function checkTenant(
  tenant: TenantPolicy,
  pointer: string,
  { allowBypass, strictest }: Pick<Policy, 'allowBypass'> & { strictest: () => StrictestRules },
): Issue[] {
  const { rules = [], project, settings = {} } = tenant
  const own = { rules, pointer: `${pointer}/rules` }
  return [
    ...checkRules(rules, { pointer: own.pointer, layer: 'tenant', allowBypass }),
    ...findVainRules(own, strictest),
    ...checkToolLists(tenant, pointer),
    ...checkEach(project === undefined ? [] : [project], pointer, {
      code: 'invalid_root',
      find: findRootFlaw,
    }).map((issue) => ({ ...issue, pointer: `${pointer}/project` })),
    ...checkEach(tenant.readRoots, `${pointer}/readRoots`, { code: 'invalid_root', find: findRootFlaw }),
    ...checkEach(tenant.writeRoots, `${pointer}/writeRoots`, { code: 'invalid_root', find: findRootFlaw }),
    ...Object.keys(settings).flatMap((tool) => checkSettings(tool, `${pointer}/settings`)),
  ]
}

function checkToolLists({ allowedTools = [], disallowedTools }: TenantPolicy, pointer: string): Issue[] {
  const both = (pattern: string) =>
    allowedTools.includes(pattern)
      ? `"${pattern}" is let through by allowedTools and taken away here. Keep one of them.`
      : undefined
  return [
    ...checkEach(allowedTools, `${pointer}/allowedTools`, { code: 'never_matches', find: findToolFlaw }),
    ...checkEach(disallowedTools, `${pointer}/disallowedTools`, {
      code: 'never_matches',
      find: findToolFlaw,
    }),
    ...checkEach(disallowedTools, `${pointer}/disallowedTools`, { code: 'contradiction', find: both }),
  ]
}

function findRootFlaw(root: string): string | undefined {
  return /^(\/|~(\/|$))/.test(root)
    ? undefined
    : `"${root}" is not an absolute path. Write it from "/" or "~/" on.`
}

function checkSettings(tool: string, pointer: string): Issue[] {
  const message = tool.includes('*')
    ? `"${tool}" is a pattern; settings are those of one tool. Name each tool.`
    : findToolFlaw(tool)
  return message === undefined ? [] : [{ pointer: pointerTo(pointer, tool), code: 'never_matches', message }]
}
