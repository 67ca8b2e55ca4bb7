import { createRuntime } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The client of the client scenarios: a runtime that imports the tools of the server that the suite starts, as any runtime does, and
 * calls them. What is called with what, the suite says, or stands here.
 */
const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[]
  client_id?: string
  client_secret?: string
  private_key_pem?: string
  signing_algorithm?: string
  issuer?: string
}

/** What the suite says of the client, as an operator would write it. The URL of a document about it is the one that the suite expects. */
const oauth = {
  ...(context.client_id === undefined
    ? { client_metadata_url: 'https://conformance-test.local/client-metadata.json' }
    : { client_id: context.client_id }),
  ...(context.client_secret !== undefined && { client_secret: context.client_secret }),
  ...(context.private_key_pem !== undefined && { private_key: context.private_key_pem }),
  ...(context.signing_algorithm !== undefined && { signing_algorithm: context.signing_algorithm }),
  ...(context.issuer !== undefined && { issuer: context.issuer }),
  ...(scenario.startsWith('auth/client-credentials') && { grant: 'client_credentials' }),
}

/** A person who allows everything: the server of the suite leads back at once. */
async function allow({ url }: { url: string }): Promise<string> {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return headers.get('location') ?? ''
}

/** What the tools of the suite take; those that are not here take nothing. */
const inputs: Readonly<Record<string, Record<string, unknown>>> = {
  add_numbers: { a: 5, b: 3 },
  valid_tool: { region: 'eu' },
}

/** A field that is null is none: no input goes out that does not fit the schema of its tool. */
function withoutNulls(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
}

const isLogin = scenario.startsWith('auth/')
const project = mkdtempSync(join(tmpdir(), 'handrail-conformance-'))
const runtime = await createRuntime({
  project,
  store: 'memory',
  feeds: [mcpTools({ servers: { peer: { url, ...(isLogin && { oauth }) } }, authorize: allow })],
  approve: async () => ({ decision: 'allow_once' }),
  // A person who agrees and fills nothing in, so that defaults stand.
  elicit: async ({ mode }) =>
    mode === 'sampling' ? { action: 'decline' } : { action: 'accept', content: {} },
})
try {
  await runtime.settled(20_000)
  const session = runtime.session()
  const names = session.tools().map(({ tool }) => tool)
  const call = async (name: string, input: Record<string, unknown>): Promise<void> => {
    const result = await session.call(name, input)
    console.log(scenario, name, result.outcome, JSON.stringify(result.content), result.error?.message ?? '')
  }
  if (context.toolCalls === undefined)
    for (const name of names.filter((each) => each.startsWith('mcp.peer.')))
      await call(name, inputs[name.slice('mcp.peer.'.length)] ?? {})
  else for (const each of context.toolCalls) await call(`mcp.peer.${each.name}`, withoutNulls(each.arguments))
} finally {
  await runtime.close()
  rmSync(project, { recursive: true, force: true })
}
