import type { PendingDefinition, Registered } from '../../../contract/registry.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { answerProblem } from '../../base/answers.ts'
import { endpoint, type Endpoint, type Question } from '../../base/endpoint.ts'
import { refusingSetup } from '../../base/refusing-setup.ts'
import { ofTenant, ofTenantOrAll, readTenant } from '../../base/read-query.ts'
import { sees } from '../../base/roles.ts'
import { everyTenant } from '../../../contract/mcp/console-login.ts'
import { toJsonObject } from '../../base/to-json-object.ts'
import { previewDiff } from '../../../kit/diff/preview-diff.ts'
import type { Json } from '../../../contract/base/json.ts'
import { countUsage, findHistory, history, usage } from './tool-history.ts'

const toolRow = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    version: { type: 'string' },
    source: { type: 'string' },
    digest: { type: 'string' },
    sideEffect: { type: 'string' },
    safety: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    state: { type: 'string', description: 'registered, enabled, paused or deprecated.' },
    blocked: { type: 'string', description: 'Why it cannot be called. Absent if it can.' },
    advice: { type: 'string' },
    outage: { type: 'string' },
    changed: {
      type: 'array',
      items: { type: 'string' },
      description: 'Fields of the definition that changed at its source and wait for approval.',
    },
  },
  required: [
    'name',
    'title',
    'description',
    'version',
    'source',
    'digest',
    'sideEffect',
    'safety',
    'tags',
    'state',
    'changed',
  ],
} as const

const list = endpoint({
  method: 'GET',
  path: '/api/tools',
  summary: 'The tools of a tenant, and where each stands.',
  role: 'viewer',
  reach: ofTenant,
  query: { tenant: 'Default: "local", or your own.' },
  answer: {
    type: 'object',
    properties: { tools: { type: 'array', items: toolRow } },
    required: ['tools'],
  },
  run({ tenants: [tenant = ''], parts }) {
    const found = parts.runtime.registry.discover({ tenant })
    return {
      tools: found.map(({ status, tags, capabilities: _c, compatibility: _m, ...tool }) => ({
        ...tool,
        tags: [...tags],
        state: status.state,
        changed: [...status.changed],
        ...(status.blocked !== undefined && { blocked: status.blocked }),
        ...(status.advice !== undefined && { advice: status.advice }),
        ...(status.outage !== undefined && { outage: status.outage }),
      })),
    }
  },
})

const show = endpoint({
  method: 'GET',
  path: '/api/tools/{tool}',
  summary:
    'A tool: its definition, where it stands, how it was used, what happened to it, and the definition that waits for approval, if one does.',
  role: 'viewer',
  reach: ofTenant,
  query: { tenant: 'Default: "local", or your own.' },
  answer: {
    type: 'object',
    properties: {
      definition: { type: 'object' },
      digest: { type: 'string' },
      source: { type: 'string' },
      status: { type: 'object' },
      usage,
      history,
      pending: {
        type: 'object',
        properties: {
          digest: { type: 'string' },
          version: { type: 'string' },
          changes: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                field: { type: 'string' },
                was: {},
                is: {},
                diff: { type: 'string', description: 'A unified diff of both.' },
              },
              required: ['field', 'was', 'is', 'diff'],
            },
          },
        },
        required: ['digest', 'version', 'changes'],
      },
    },
    required: ['definition', 'digest', 'source', 'status', 'usage', 'history'],
  },
  run(asked) {
    const found = findTool(asked)
    if (found instanceof Response) return found
    const { registry, store } = asked.parts.runtime
    const { registered, tenant } = found
    const { name } = registered.definition
    const pending = findPending(asked.parts.runtime, name, tenant)
    // What is of all tenants is for those who see all.
    const scopes = sees(asked.visitor, everyTenant) ? [tenant, ''] : [tenant]
    return {
      definition: toJsonObject(registered.definition),
      digest: registered.digest,
      source: registered.source,
      status: toJsonObject(registry.status(registered, tenant)),
      usage: countUsage(store, tenant, name),
      history: findHistory(store, scopes, name),
      ...(pending !== undefined && {
        pending: {
          digest: pending.digest,
          version: pending.version,
          changes: pending.changes.map((change) => ({ ...change, diff: diffOf(change) })),
        },
      }),
    }
  },
})

const changeState = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/state',
  summary:
    'Enables, pauses or deprecates a tool, for the tenant that is named, or for all if none is and you have the role in all. It holds from the next call on, in every process.',
  role: 'operator',
  reach: ofTenantOrAll('operator'),
  query: { tenant: 'Default: all, or your own.' },
  body: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['enabled', 'paused', 'deprecated'] },
      reason: { type: 'string', description: 'Why; of a deprecation, what to use instead.' },
    },
    required: ['state'],
    additionalProperties: false,
  },
  answer: { type: 'object', properties: { status: { type: 'object' } }, required: ['status'] },
  async run(asked) {
    const found = findTool(asked)
    if (found instanceof Response) return found
    const { runtime } = asked.parts
    const { state, reason } = asked.body as unknown as StateBody
    const { name } = found.registered.definition
    return refusingSetup(async () => {
      await runtime.setToolState(name, state, {
        by: asked.visitor.actor,
        ...(!asked.tenants.includes(everyTenant) && { tenant: found.tenant }),
        ...(reason !== undefined && { reason }),
      })
      return { status: toJsonObject(runtime.registry.status(found.registered, found.tenant)) }
    })
  },
})

/** As the schema of the body says. */
interface StateBody {
  readonly state: Parameters<Runtime['setToolState']>[1]
  readonly reason?: string
}

const approve = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/approve',
  summary: 'Lets a definition be used that changed at its source: this very one.',
  role: 'operator',
  query: { tenant: 'Default: "local", or your own.' },
  reach(question) {
    const found = findTool(question)
    if (found instanceof Response) return found
    // A definition of all tenants is approved by who may do so in all of them.
    const pending = findPending(question.parts.runtime, found.registered.definition.name, found.tenant)
    return [pending === undefined ? found.tenant : (pending.tenant ?? everyTenant)]
  },
  body: {
    type: 'object',
    properties: { digest: { type: 'string', description: 'Of the definition that was seen.' } },
    required: ['digest'],
    additionalProperties: false,
  },
  answer: { type: 'object', properties: { approved: { type: 'string' } }, required: ['approved'] },
  async run(asked) {
    const found = findTool(asked)
    if (found instanceof Response) return found
    const { runtime } = asked.parts
    const { name } = found.registered.definition
    const tenant = findPending(runtime, name, found.tenant)?.tenant
    const digest = String(asked.body['digest'])
    return refusingSetup(async () => {
      const by = asked.visitor.actor
      await runtime.approveDefinition(name, { digest, by, ...(tenant !== undefined && { tenant }) })
      return { approved: digest }
    })
  },
})

/** The tool that a path names, as the tenant of the question has it. */
export function findTool(asked: Question): { registered: Registered; tenant: string } | Response {
  const tenant = readTenant(asked)
  if (tenant instanceof Response) return tenant
  const registered = asked.parts.runtime.registry.view(tenant).find(asked.path['tool'] ?? '')
  if (registered !== undefined) return { registered, tenant }
  return answerProblem({ status: 404, detail: 'There is no such tool.' })
}

function diffOf({ field, was, is }: PendingDefinition['changes'][number]): string {
  return previewDiff({ name: `${field}.json`, before: toText(was), after: toText(is) }).body
}

function toText(value: Json): string {
  return `${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`
}

function findPending({ registry }: Runtime, name: string, tenant: string): PendingDefinition | undefined {
  return registry.pending().find((each) => each.tool === name && (each.tenant ?? tenant) === tenant)
}

export const toolEndpoints: readonly Endpoint[] = [list, show, changeState, approve]
