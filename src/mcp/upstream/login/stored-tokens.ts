import type { StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { StoredLogin } from '../../../contract/mcp/login.ts'

/** The tokens that are kept; undefined if there are none. */
export function tokensOf(stored: StoredLogin | undefined): StoredOAuthTokens | undefined {
  const tokens = stored?.tokens
  return tokens !== undefined && isTokens(tokens) ? tokens : undefined
}

/** Whether these are tokens. Only a try writes them, and the SDK has checked the optional fields of what it writes. */
function isTokens(tokens: JsonObject): tokens is JsonObject & StoredOAuthTokens {
  return typeof tokens['access_token'] === 'string' && typeof tokens['token_type'] === 'string'
}
