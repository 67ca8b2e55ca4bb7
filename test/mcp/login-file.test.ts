import { SetupError } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { expect, test } from 'vitest'

const url = 'https://mcp.example/mcp'

/** `pointer message` of each issue of one server. */
function issuesOf(server: object): string[] {
  try {
    mcpTools({ servers: { one: server } })
    return []
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return error.issues.map(({ pointer, message }) => `${pointer} ${message}`)
  }
}

test.each<[string, object, RegExp[]]>([
  [
    'a program',
    { command: 'node', oauth: {} },
    [/^\/mcpServers\/one\/oauth "oauth" means nothing for a server with a "command"/],
  ],
  [
    'a URL without https',
    { url: 'http://mcp.example/mcp', oauth: {} },
    [/\/oauth Tokens go over https only/],
  ],
  [
    'a header that says who we are',
    { url, headers: { authorization: 'Bearer x' }, oauth: {} },
    [/\/oauth "headers" has an "Authorization" already/],
  ],
  [
    'a secret without a client',
    { url, oauth: { client_secret: 'x' } },
    [/\/oauth It has a secret of a client and no "client_id"/],
  ],
  [
    'a machine without a secret',
    { url, oauth: { client_id: 'x', grant: 'client_credentials' } },
    [/\/oauth\/grant "client_credentials" needs a "client_id", and/],
  ],
  [
    'two secrets',
    { url, oauth: { client_id: 'x', client_secret: 'y', private_key: 'z' } },
    [/\/oauth\/private_key There is a "client_secret" as well/],
  ],
  [
    'an issuer without https',
    { url, oauth: { issuer: 'http://as.example' } },
    [/\/oauth\/issuer "http:\/\/as\.example" is not a URL/],
  ],
  [
    'a document without https',
    { url, oauth: { client_metadata_url: 'ftp://me.example/client.json' } },
    [/\/oauth\/client_metadata_url /],
  ],
  [
    'a value with what no variable stands for',
    { url, oauth: { client_id: 'x', client_secret: '${a b}' } },
    [/\/oauth\/client_secret What stands after "\$" is not understood/],
  ],
  [
    'a variable where none is filled in',
    { url, oauth: { client_id: '${ID}' } },
    [/\/oauth\/client_id "\$\{ID\}" stays as it is/],
  ],
  ['a port that is none', { url, oauth: { redirect_port: 70_000 } }, [/\/oauth\/redirect_port /]],
  ['no scopes at all', { url, oauth: { scopes: [] } }, [/\/oauth\/scopes /]],
  [
    'a field of another program',
    { url, oauth: { clientId: 'x' } },
    [/\/oauth\/clientId .*did you mean "client_id"/],
  ],
])('how to log in is refused with %s, at its pointer (MCP-1)', (_, server, issues) => {
  const found = issuesOf(server)
  expect(found).toHaveLength(issues.length)
  for (const [index, issue] of issues.entries()) expect(found[index]).toMatch(issue)
})

test('how to log in may be said in full, and in part (MCP-1)', () => {
  for (const oauth of [
    {},
    { client_id: 'x' },
    {
      client_id: 'x',
      client_secret: '${SECRET}',
      scopes: ['read'],
      grant: 'client_credentials',
      issuer: 'https://as.example',
    },
    { client_id: 'x', private_key: '${KEY}', signing_algorithm: 'RS256', grant: 'client_credentials' },
    { client_metadata_url: 'https://me.example/client.json', redirect_port: 8123 },
  ])
    expect(issuesOf({ url, oauth })).toEqual([])
  expect(issuesOf({ url: 'http://localhost:8080/mcp', oauth: { issuer: 'http://127.0.0.1:9000' } })).toEqual(
    [],
  )
})
