import { ToolFailure } from '../../contract/base/errors.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'

/** A list that is given names at least one: an empty one would mean nothing or everything. */
export const domainsField = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 253 },
  minItems: 1,
  maxItems: 50,
} as const

/** Names of domains as they are compared. Fails for what names none. */
export function toDomains(texts: readonly string[], field: string): string[] {
  return texts.map((text) => {
    const name = text.trim().replace(/^\*\./, '').replace(/\.$/, '')
    const host = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : undefined
    if (host !== undefined && host.pathname === '/' && host.port === '' && host.username === '')
      return host.hostname
    throw new ToolFailure({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_input',
      message: `"${text}" in ${field} is not a domain. Give names alone, such as "example.com".`,
    })
  })
}

/** The input of the presentation that models know. Its lists may be empty, and then say nothing. */
export const webSearchSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 1_000 },
    num_results: { type: 'integer', minimum: 1, description: 'At most 20 are given.' },
    allowed_domains: { type: 'array', items: { type: 'string' } },
    blocked_domains: { type: 'array', items: { type: 'string' } },
  },
  required: ['query'],
  additionalProperties: false,
} as const

/** The canonical input of what was asked by that presentation. */
export function fromWebSearch({
  query,
  num_results,
  allowed_domains,
  blocked_domains,
}: JsonObject): JsonObject {
  return {
    query: query ?? '',
    ...(typeof num_results === 'number' && { limit: Math.min(num_results, 20) }),
    ...(isFilled(allowed_domains) && { allowed_domains }),
    ...(isFilled(blocked_domains) && { blocked_domains }),
  }
}

function isFilled(list: Json | undefined): list is Json[] {
  return Array.isArray(list) && list.length > 0
}
