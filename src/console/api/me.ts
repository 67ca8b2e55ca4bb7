import { endpoint, type Endpoint } from '../base/endpoint.ts'

const me = endpoint({
  method: 'GET',
  path: '/api/me',
  summary: 'Who you are here, and what this Handrail is.',
  role: 'viewer',
  answer: {
    type: 'object',
    properties: {
      actor: { type: 'string' },
      role: { type: 'string' },
      tenant: { type: 'string', description: 'Absent if you see all tenants.' },
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
    required: ['actor', 'role', 'version', 'project', 'sandbox', 'store', 'policyVersion'],
  },
  run({ visitor, parts: { runtime, version } }) {
    const { actor, role, tenant, csrf, expiresAt } = visitor
    return {
      actor,
      role,
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

export const ownEndpoints: readonly Endpoint[] = [me]
