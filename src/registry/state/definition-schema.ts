import type { JsonSchema } from '../../contract/base/schema.ts'

const text: JsonSchema = { type: 'string' }
const texts: JsonSchema = { type: 'array', items: text }
const flag: JsonSchema = { type: 'boolean' }
const anything: JsonSchema = {}

/** A closed object; every field is required but the named ones. */
function object(properties: { [name: string]: JsonSchema }, optional: readonly string[] = []): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  }
}

const capabilities = object({
  fs: object({ read: texts, write: texts }),
  net: object({ hosts: texts }),
  proc: object({ executables: texts }),
  browser: flag,
  tmp: flag,
  secrets: texts,
})

const limits = object(
  {
    timeoutMs: anything,
    maxBytesIn: anything,
    maxBytesOut: anything,
    maxFiles: anything,
    maxDepth: anything,
    concurrency: anything,
  },
  ['timeoutMs'],
)

const consent = object(
  {
    required: flag,
    validForMs: { type: 'integer', minimum: 1 },
    scope: { enum: ['once', 'session'] },
    personOnly: flag,
  },
  ['validForMs', 'scope', 'personOnly'],
)

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

/** The form of a manifest: its fields, their types and their words. What they mean together is checked beside it. */
export const definitionSchema: JsonSchema = object(
  {
    name: anything,
    title: text,
    version: anything,
    description: text,
    tags: { type: 'array', items: { type: 'string', minLength: 1 } },
    metadata: { type: 'object' },
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    permission: { enum: ['readonly', 'write'] },
    sideEffect: { enum: ['none', 'read', 'write', 'network', 'filesystem', 'browser', 'process'] },
    safety: { enum: ['low', 'medium', 'high'] },
    consent,
    scopes: { type: 'array', items: object({ resource: text, action: text }) },
    capabilities,
    limits,
    concurrency: { enum: ['parallel', 'serial'] },
    idempotency: { enum: ['keyed', 'optional', 'none'] },
    keyFrom: text,
    annotations: object(Object.fromEntries(hints.map((hint) => [hint, flag])), hints),
    compatibility: object({ providers: texts, models: texts }),
    deprecations: { type: 'array', items: object({ what: text, since: text, advice: text }) },
    longText: { enum: ['artifact', 'inline'] },
    cost: { type: 'integer', minimum: 0 },
    needs: texts,
  },
  ['name', 'version', 'outputSchema', 'keyFrom'],
)
