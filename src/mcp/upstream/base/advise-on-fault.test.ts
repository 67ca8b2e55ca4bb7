import { expect, test } from 'vitest'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { adviseOnFault } from './advise-on-fault.ts'

const program = {
  kind: 'stdio',
  command: 'it',
  args: [],
  env: {},
  cwd: undefined,
  read: [],
  write: [],
} as const
const web = { kind: 'http', url: 'https://a.example/mcp', headers: {}, login: undefined } as const

function adviceFor(
  said: string,
  hosts: readonly string[],
  transport: UpstreamServer['transport'] = program,
): string {
  const tools = { allow: ['*'], deny: [], readonly: [] }
  const rest = { timeoutMs: undefined, tools, sampling: false, tenants: undefined, credentials: {} }
  return adviseOnFault([said], { name: 'it', transport, hosts, ...rest })
}

test.each([
  ['fetch failed', [], 'reaches no host, as "network"'],
  ['getaddrinfo EAI_AGAIN a.example', ['b.example'], 'reaches only b.example, as "network"'],
  ['connect ECONNREFUSED 127.0.0.1:5432', ['*'], 'with its port beside 80 and 443'],
  ["EROFS: read-only file system, open '/x'", [], 'writes only to those under "write" and to its home'],
  ['Protocol error (Target.setDiscoverTargets): Target closed', [], '"--no-sandbox"'],
])('where a program says "%s", the answer says who can change that (MCP-1)', (said, hosts, advice) => {
  expect(adviceFor(said, hosts)).toContain(advice)
})

test('nothing is guessed of other faults, nor of a server on the web (MCP-1)', () => {
  expect(adviceFor('There is no such city.', [])).toBe('')
  expect(adviceFor('fetch failed', [], web)).toBe('')
})
