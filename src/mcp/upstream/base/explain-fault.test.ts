import { expect, test } from 'vitest'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { explainFault } from './explain-fault.ts'
import { noChallenge } from './challenge.ts'
import { LoginNeeded } from './login-needed.ts'
import { createServerLog } from './server-log.ts'

const server: UpstreamServer = {
  name: 'it',
  transport: { kind: 'http', url: 'https://tracker.example/mcp', headers: {}, login: undefined },
  hosts: [],
  timeoutMs: undefined,
  tools: { allow: ['*'], deny: [], readonly: [] },
  tenants: undefined,
  credentials: {},
  sampling: false,
}

function explain(error: unknown): string {
  const { message, remedy } = explainFault(error, {
    server,
    log: createServerLog(),
    roots: [],
    fetches: true,
  })
  return `${message}\n${remedy}`
}

/** An error of a connection, as it is wrapped on its way. */
function failure(code: string): Error {
  const cause = Object.assign(new Error('what it was'), { code })
  return new Error('Version negotiation probe failed', { cause: new TypeError('fetch failed', { cause }) })
}

test('a login that did not come about says what to run, whatever kept it (MCP-1)', () => {
  const cause = Object.assign(new Error('refused'), { status: 401 })
  const error = new LoginNeeded('It needs a login: run "handrail mcp login it".', noChallenge, { cause })
  expect(explain(error)).toContain('run "handrail mcp login it"')
})

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'is not trusted (SELF_SIGNED_CERT_IN_CHAIN)'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is not trusted'],
  ['CERT_HAS_EXPIRED', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is not trusted'],
  ['UND_ERR_CONNECT_TIMEOUT', 'No server answered at "https://tracker.example/mcp" in time.'],
  ['ECONNREFUSED', 'Nothing listens at'],
  ['EHOSTUNREACH', 'what it was.'],
])('the reason %s is found below what wraps it (MCP-1)', (code, expected) => {
  expect(explain(failure(code))).toContain(expected)
})

test('words of others are short, on one line, and drive no terminal', () => {
  const said = explain(new Error(`a\nb\u001b[2J${'x'.repeat(5_000)}`))
  expect(said).toContain('a\\nb\\u{1b}[2J')
  expect(said.length).toBeLessThan(1_000)
})
