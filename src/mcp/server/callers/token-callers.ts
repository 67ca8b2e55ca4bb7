import { createHash } from 'node:crypto'
import type { TokenCaller } from '../../../contract/mcp/serving.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import type { Refusal } from '../web/send-json.ts'
import type { Caller } from './caller.ts'
import { toSessionOptions } from './to-session-options.ts'

/**
 * Finds the caller of a token that was given out by hand. Looked up by digest: how long that takes reveals nothing about a token
 * that an attacker guesses.
 */
export function createTokenCallers(tokens: readonly TokenCaller[]): (token: string) => Caller | undefined {
  const callers = new Map<string, Caller>()
  for (const token of tokens) {
    const { sha256, expiresAt, metrics = false, approver = false } = token
    callers.set(sha256.toLowerCase(), {
      key: keyOfToken(token),
      session: toSessionOptions(token),
      expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
      readsMetrics: metrics,
      decides: approver || noApprover,
    })
  }
  return (token) => {
    const caller = callers.get(createHash('sha256').update(token).digest('hex'))
    const { expiresAt = Infinity } = caller ?? {}
    return expiresAt > Date.now() ? caller : undefined
  }
}

const noApprover: Refusal = {
  status: 403,
  message: 'This token may not answer approvals. Give it "approver": true in gateway.json.',
}

/** The key of the caller that has this token. Another token or another right makes another one. */
export function keyOfToken({ id, sha256, ...rights }: TokenCaller): string {
  return `token:${canonicalJson([id, sha256.toLowerCase(), toSessionOptions(rights)])}`
}
