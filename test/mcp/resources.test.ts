import { createHash, randomBytes } from 'node:crypto'
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client'
import { artifactTools, defineTool, toolOutput, type Runtime } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'
import { createClient, startHttp, textOf, type Era } from './connect.ts'
import { firstOf } from '../support/rounds.ts'

const eras = firstOf(['legacy', 'modern'] as const)

const bytes = randomBytes(70_000)
/** More than is given at a time, in letters of one to four bytes. */
const long = 'aß€𝄞'.repeat(900_000)

const leave = defineTool({
  name: 'demo.leave',
  description: 'Leaves an artifact.',
  permission: 'readonly',
  input: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
  async run({ kind }: { kind: string }, context) {
    const artifact =
      kind === 'image'
        ? await context.artifact(bytes, { mimeType: 'image/png', name: 'noise.png' })
        : await context.artifact(kind === 'long' ? long : 'some words', { mimeType: 'text/plain' })
    return toolOutput({
      content: [{ type: 'artifact_ref', artifact, note: 'all of it' }],
      artifacts: [artifact],
    })
  },
})

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')

/** Ann and Bob are of one tenant, Cy of another, Dee may read no artifacts. */
const callers = {
  ann: { tenant: 'acme' },
  bob: { tenant: 'acme' },
  cy: {},
  dee: { allowedTools: ['demo.*'] },
}
type Name = keyof typeof callers

interface Gateway {
  readonly runtime: Runtime
  readonly connect: (name: Name, era: Era) => Promise<Client>
}

/** The gateway in front of a runtime, for these callers. */
async function openGateway(): Promise<Gateway> {
  const runtime = await openRuntime({
    tools: [artifactTools(), leave],
    policy: { tenants: { acme: {} } },
    store: { path: `${makeFolder()}/store.db` },
  })
  const tokens = Object.entries(callers).map(([actor, about]) => ({
    id: actor,
    sha256: digestOf(actor),
    actor,
    ...about,
  }))
  const server = await startHttp({ runtime, tokens })
  onTestFinished(() => server.close())
  return {
    runtime,
    async connect(name, era) {
      const client = createClient({ era })
      const requestInit = { headers: { authorization: `Bearer ${name}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }))
      onTestFinished(() => client.close())
      return client
    },
  }
}

/** The URI of what a call leaves. */
async function leaveOne(client: Client, kind: string): Promise<string> {
  const { content } = await client.callTool({ name: 'demo__leave', arguments: { kind } })
  const link = content.find(({ type }) => type === 'resource_link')
  if (link?.type !== 'resource_link') throw new Error('There is no link in the result.')
  return link.uri
}

async function readBytes(client: Client, uri: string): Promise<Buffer> {
  const { contents } = await client.readResource({ uri })
  return Buffer.concat(
    contents.map((piece) => ('text' in piece ? Buffer.from(piece.text) : Buffer.from(piece.blob, 'base64'))),
  )
}

/** The calls of a tenant as its evidence has them, oldest first. */
function callsOf({ store }: Runtime, tenant: string): string[] {
  return [...store.records({ tenant, kind: 'end' })].map(({ text }) => {
    const { tool, outcome } = JSON.parse(text) as { tool: string; outcome: string }
    return `${tool} ${outcome}`
  })
}

test.each(eras)(
  'what a call leaves is linked in its result, listed and read, by a governed call: %s (MCP-2)',
  async (era) => {
    const { runtime, connect } = await openGateway()
    const client = await connect('ann', era)
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true })
    expect((await client.listResources()).resources).toEqual([])
    const result = await client.callTool({ name: 'demo__leave', arguments: { kind: 'words' } })
    const words = await leaveOne(client, 'words')
    const image = await leaveOne(client, 'image')
    expect(words).toMatch(/^handrail:\/\/artifact\/call_\w+\/sha256:[0-9a-f]{64}$/)
    expect(textOf(result)).toMatch(
      /^\[artifact handrail:\/\/artifact\/\S+, 10 bytes, text\/plain\] all of it$/,
    )

    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri).slice(0, 2)).toEqual([image, words])
    expect(resources[0]).toMatchObject({ name: 'noise.png', mimeType: 'image/png', size: 70_000 })
    expect(resources[1]).toMatchObject({ name: 'output of demo.leave', mimeType: 'text/plain', size: 10 })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'handrail://artifact/{call}/{digest}{?offset,length}',
    ])

    expect((await client.readResource({ uri: words })).contents).toEqual([
      {
        uri: words,
        mimeType: 'text/plain',
        text: 'some words',
        _meta: { 'handrail/artifact': { bytes: 10, offset: 0 } },
      },
    ])
    const { contents } = await client.readResource({ uri: image })
    expect(contents).toMatchObject([{ uri: image, mimeType: 'image/png', blob: bytes.toString('base64') }])
    expect(callsOf(runtime, 'acme').slice(-2)).toEqual(['artifact.read ok', 'artifact.read ok'])
  },
)

test.each(eras)(
  'over the standard streams, the long output of a command is linked, listed and read: %s (MCP-2)',
  async (era) => {
    const place = makePlace()
    const client = createClient({
      era,
      onAsk: () => ({ action: 'accept', content: { decision: 'allow_once' } }),
    })
    await client.connect(toServer(place))
    onTestFinished(() => client.close())
    const argv = ['node', '-e', 'process.stdout.write("x".repeat(99_999) + "\\n")']
    const result = await client.callTool({ name: 'code__run_command', arguments: { argv } })
    const link = result.content.find(({ type }) => type === 'resource_link')
    expect(link).toMatchObject({ mimeType: 'text/plain', size: 100_000 })
    const { resources } = await client.listResources()
    expect(resources.map(({ uri, size }) => [uri, size])).toEqual([[Object(link).uri, 100_000]])
    expect((await readBytes(client, Object(link).uri as string)).toString()).toBe(`${'x'.repeat(99_999)}\n`)
  },
)

test.each(eras)(
  'nobody but its caller lists or reads what a call left, whoever knows the URI: %s (MCP-2, AUTH-6)',
  async (era) => {
    const { runtime, connect } = await openGateway()
    const [ann, bob, cy] = await Promise.all([connect('ann', era), connect('bob', era), connect('cy', era)])
    const uri = await leaveOne(ann, 'image')
    // The same bytes, so the same digest, of another caller.
    const ofBob = await leaveOne(bob, 'image')
    for (const other of [bob, cy]) {
      const { resources } = await other.listResources()
      expect(resources.map((each) => each.uri)).toEqual(other === bob ? [ofBob] : [])
      await expect(other.readResource({ uri })).rejects.toMatchObject({
        code: -32_602,
        data: { reason: 'unknown_artifact' },
      })
    }
    expect(await readBytes(bob, ofBob)).toEqual(bytes)
    expect(callsOf(runtime, 'acme').filter((call) => call.startsWith('artifact'))).toEqual([
      'artifact.read failed',
      'artifact.read ok',
    ])
    expect(callsOf(runtime, 'local')).toEqual(['artifact.read failed'])
  },
)

test('what a call left is there for its caller when its session has ended, and in the other era (MCP-2)', async () => {
  const { connect } = await openGateway()
  const first = await connect('ann', 'legacy')
  const uri = await leaveOne(first, 'image')
  await (first.transport as StreamableHTTPClientTransport).terminateSession()
  for (const era of eras) {
    const again = await connect('ann', era)
    expect((await again.listResources()).resources).toEqual([])
    expect(await readBytes(again, uri)).toEqual(bytes)
  }
})

test.each(eras)('what is too large is read in parts that are the whole again: %s (MCP-2)', async (era) => {
  const { connect } = await openGateway()
  const client = await connect('ann', era)
  const uri = await leaveOne(client, 'long')
  const refused = await client.readResource({ uri }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: -32_602, data: { bytes: 9_000_000, reason: 'output_too_large' } })
  const { first } = Object(refused).data as { first: string }
  expect(String(refused)).toContain(first)
  let text = ''
  for (let next: string | undefined = first; next !== undefined;) {
    const { contents } = await client.readResource({ uri: next })
    const [part] = contents
    expect(part?.uri).toBe(next)
    text += part !== undefined && 'text' in part ? part.text : ''
    next = Object(part?._meta?.['handrail/artifact']).next as string | undefined
  }
  expect(text === long).toBe(true)
})

test.each(eras)(
  'who may not read artifacts gets no links, lists none and is told why: %s (MCP-2)',
  async (era) => {
    const { connect } = await openGateway()
    const client = await connect('dee', era)
    const { content } = await client.callTool({ name: 'demo__leave', arguments: { kind: 'words' } })
    expect(content.map(({ type }) => type)).toEqual(['text'])
    expect((await client.listResources()).resources).toEqual([])
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([])
    const uri = `handrail://artifact/call_1/sha256:${'0'.repeat(64)}`
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      data: { reason: 'tool_not_available' },
    })
  },
)

test.each(eras)('what is not a resource is refused, with what there is: %s (MCP-2)', async (era) => {
  const { connect } = await openGateway()
  const client = await connect('ann', era)
  for (const uri of [
    'file:///etc/passwd',
    'handrail://artifact/..%2f..%2fetc/passwd',
    `handrail://artifact/call_1/sha256:${'0'.repeat(64)}?offset=-1&length=1`,
    'handrail://mcp/only',
    'nothing',
  ]) {
    const refused = await client.readResource({ uri }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: -32_602, data: { uri } })
    expect(String(refused)).toContain('handrail://artifact/{call}/{digest}')
    expect(String(refused)).toContain(`"${uri}"`)
  }
  const gone = `handrail://artifact/call_1/sha256:${'0'.repeat(64)}`
  const beyond = `${gone}?offset=0&length=0`
  await expect(client.readResource({ uri: gone })).rejects.toMatchObject({ code: -32_602 })
  await expect(client.readResource({ uri: beyond })).rejects.toMatchObject({ code: -32_602 })
  await expect(client.listResources({ cursor: 'more' })).rejects.toMatchObject({ code: -32_602 })
})
