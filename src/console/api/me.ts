import { everyTenant } from '../../contract/mcp/console-login.ts'
import { type ConsoleRole } from '../../contract/mcp/console-login.ts'
import { higher, sees, tenantsOf, type Visitor } from '../base/roles.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'

const me = endpoint({
  method: 'GET',
  path: '/api/me',
  summary: 'Who you are here, and what this Handrail is.',
  role: 'viewer',
  reach: 'self',
  answer: {
    type: 'object',
    properties: {
      actor: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string', description: 'The highest one that you have anywhere.' },
      tenant: { type: 'string', description: 'The one that you see. Absent if you see several.' },
      roles: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            tenant: { type: 'string', description: '"*" is every one.' },
            role: { type: 'string' },
          },
          required: ['tenant', 'role'],
        },
      },
      csrf: {
        type: 'string',
        description: 'Changes show it as X-CSRF-Token. Absent if you came with a token.',
      },
      expiresAt: { type: 'integer', description: 'When your visit ends, in milliseconds since the epoch.' },
      version: { type: 'string' },
      project: { type: 'string' },
      sandbox: { type: 'string' },
      store: { type: 'string' },
      policyVersion: { type: 'integer' },
    },
    required: ['actor', 'name', 'role', 'roles', 'version', 'project', 'sandbox', 'store', 'policyVersion'],
  },
  run({ visitor, parts: { runtime, version } }) {
    const { actor, name, roles, csrf, expiresAt } = visitor
    const tenant = onlyTenant(visitor)
    return {
      actor,
      name,
      role: [...roles.values()].reduce<ConsoleRole>((one, other) => higher(one, other) ?? one, 'viewer'),
      roles: [...roles].map(([of, role]) => ({ tenant: of, role })),
      version,
      project: runtime.project,
      sandbox: runtime.sandbox,
      store: runtime.store.description,
      policyVersion: runtime.policyVersion,
      ...(tenant !== undefined && { tenant }),
      ...(csrf !== undefined && { csrf }),
      ...(Number.isFinite(expiresAt) && { expiresAt }),
    }
  },
})

function onlyTenant(visitor: Visitor): string | undefined {
  const [first, second] = tenantsOf(visitor, [])
  return second === undefined && !sees(visitor, everyTenant) ? first : undefined
}

export const ownEndpoints: readonly Endpoint[] = [me]
