import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { fillSecretNames } from '../../../kit/secrets/secret-names.ts'

/**
 * The variables or headers of one tenant's connection, with each `${NAME}` replaced by the secret of that name. What the tenant has of its
 * own takes the place of what all have. Throws where a secret was not given.
 */
export function fillSecrets(
  { transport, credentials }: UpstreamServer,
  tenant: string,
  { secret }: Pick<FeedHost, 'secret'>,
): Record<string, string> {
  const isHttp = transport.kind === 'http'
  const own = Object.hasOwn(credentials, tenant) ? (credentials[tenant] ?? {}) : {}
  const given = Object.entries(isHttp ? transport.headers : transport.env)
  // Headers are the same in whatever letters.
  const fold = (name: string): string => (isHttp ? name.toLowerCase() : name)
  const replaced = new Set(Object.keys(own).map(fold))
  const values = [...given.filter(([name]) => !replaced.has(fold(name))), ...Object.entries(own)]
  const valueOf = (name: string): string => {
    const value = secret(name)
    if (value !== undefined) return value
    throw new Error(`The secret "${name}" is not there. Set it in the environment, and start Handrail again.`)
  }
  return Object.fromEntries(values.map(([name, text]) => [name, fillSecretNames(text, valueOf)]))
}
