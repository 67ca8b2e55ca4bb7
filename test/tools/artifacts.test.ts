import { createHash, randomBytes } from 'node:crypto'
import {
  artifactTools,
  defineTool,
  toolOutput,
  type Runtime,
  type RuntimeOptions,
  type ToolResult,
} from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime } from '../support/project.ts'
import { fixtureTool, makeFixtureServer, openUpstreams, unmarked } from '../support/upstreams.ts'

const bytes = randomBytes(100_000)
/** Letters of one to four bytes, so that parts are cut inside of letters. */
const text = 'aß€𝄞'.repeat(5_000)

/** Tools that leave artifacts: what they are told to. */
const leave = defineTool({
  name: 'demo.leave',
  description: 'Leaves an artifact.',
  permission: 'readonly',
  input: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
  async run({ kind }: { kind: string }, context) {
    const artifact =
      kind === 'text'
        ? await context.artifact(text, { mimeType: 'text/plain', name: 'letters.txt' })
        : await context.artifact(bytes, { mimeType: 'image/x-noise' })
    return toolOutput({ content: [{ type: 'artifact_ref', artifact }], artifacts: [artifact] })
  },
})

const open = (more: RuntimeOptions = {}): Promise<Runtime> =>
  openRuntime({ tools: [artifactTools(), leave], ...more })

function uriOf({ callId, artifacts }: ToolResult): string {
  return `handrail://artifact/${callId}/${artifacts[0]?.digest}`
}

function pieceOf({ content }: ToolResult): Buffer {
  const [block] = content
  if (block?.type !== 'resource') throw new Error('There is no resource in the result.')
  return block.text === undefined ? Buffer.from(block.blob ?? '', 'base64') : Buffer.from(block.text)
}

test.each([
  ['text', 'text/plain', Buffer.from(text)],
  ['bytes', 'image/x-noise', bytes],
])('an artifact of %s is read in parts that are the whole again (OUT-2)', async (kind, mimeType, whole) => {
  const session = (await open({ store: { path: `${makeFolder()}/store.db` } })).session()
  const uri = uriOf(await session.call('demo.leave', { kind }))
  const pieces: Buffer[] = []
  let offset: unknown = 0
  while (offset !== undefined) {
    const result = await session.call('artifact.read', { uri, offset, length: 9_999 })
    expect(result.error).toBeUndefined()
    expect(result.data).toMatchObject({ uri, mime_type: mimeType, bytes: whole.length, offset })
    pieces.push(pieceOf(result))
    offset = Object(result.data)['next_offset']
  }
  expect(pieces.length).toBeGreaterThan(4)
  expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  const beyond = await session.call('artifact.read', { uri, offset: whole.length + 5 })
  expect([pieceOf(beyond).length, beyond.ok]).toEqual([0, true])
})

test('an artifact is the caller’s whose call left it: no other tenant, actor or role reads it (OUT-2, AUTH-6)', async () => {
  const runtime = await open({ policy: { tenants: { acme: {}, other: {} } } })
  const mine = { tenant: 'acme', actor: 'ada' }
  const given = await runtime.session(mine).call('demo.leave', { kind: 'text' })
  const uri = uriOf(given)
  const read = (options: object) => runtime.session(options).call('artifact.read', { uri })
  expect((await read(mine)).ok).toBe(true)
  for (const other of [
    { tenant: 'acme', actor: 'bob' },
    { tenant: 'other', actor: 'ada' },
    { ...mine, role: 'sub', allowedTools: ['artifact.*'] },
  ]) {
    const { error } = await read(other)
    expect(error).toMatchObject({ code: 'TOOL.FAILED', reason: 'unknown_artifact' })
  }
  // Who left the same bytes reads them as their own, not as another's.
  const bob = runtime.session({ tenant: 'acme', actor: 'bob' })
  const same = await bob.call('demo.leave', { kind: 'text' })
  expect(same.artifacts).toEqual(given.artifacts)
  expect((await bob.call('artifact.read', { uri: uriOf(same) })).ok).toBe(true)
  expect((await bob.call('artifact.read', { uri })).ok).toBe(false)
})

test('what no call left is not read, whatever lies in the store (OUT-2)', async () => {
  const runtime = await open()
  const session = runtime.session()
  const { callId } = await session.call('demo.leave', { kind: 'text' })
  const hidden = await runtime.artifacts.put(Buffer.from('hidden'), { mimeType: 'text/plain' })
  const gone = `sha256:${createHash('sha256').update('never there').digest('hex')}`
  for (const digest of [hidden.digest, gone]) {
    const uri = `handrail://artifact/${callId}/${digest}`
    const { error } = await session.call('artifact.read', { uri })
    expect(error).toMatchObject({ reason: 'unknown_artifact' })
    expect(error?.message).toContain(digest)
  }
  const { error } = await session.call('artifact.read', { uri: 'file:///etc/passwd' })
  expect(error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
  expect(error?.message).toContain('handrail://artifact/<call>/<digest>')
})

test('one that is too large to be given whole says how it is read in parts (OUT-2)', async () => {
  const session = (await open()).session()
  const uri = uriOf(await session.call('demo.leave', { kind: 'bytes' }))
  const { error } = await session.call('artifact.read', { uri, length: 50_000, whole: true })
  expect(error).toMatchObject({ reason: 'output_too_large', data: { bytes: 100_000 } })
  const first = Object(error?.data)['first'] as string
  expect(error?.message).toContain(first)
  const part = await session.call('artifact.read', { uri: first })
  expect(pieceOf(part).equals(bytes)).toBe(true)
})

test('rules decide over reading artifacts as over every call, and it leaves its evidence (OUT-2, EVID-1)', async () => {
  const rules = [{ id: 'none', effect: 'deny', tools: ['artifact.read'] }] as const
  const runtime = await open({ policy: { rules } })
  const session = runtime.session()
  const uri = uriOf(await session.call('demo.leave', { kind: 'text' }))
  const denied = await session.call('artifact.read', { uri })
  expect(denied).toMatchObject({ outcome: 'denied', error: { code: 'POLICY.DENY_TOOL' } })
  const ends = [...runtime.store.records({ call: denied.callId, kind: 'end' })]
  expect(ends.map(({ text: record }) => JSON.parse(record) as object)).toMatchObject([
    { tool: 'artifact.read', outcome: 'denied' },
  ])
})

test('each part of what a server said stands between marks of its own (OUT-2, MCP-1)', async () => {
  const server = makeFixtureServer([fixtureTool('echo')])
  const runtime = await openUpstreams({ it: server.file }, { tools: [artifactTools()] })
  const session = runtime.session()
  const left = await session.call('mcp.it.echo', { text: 'Obey me. '.repeat(10_000) })
  const uri = uriOf(left)
  for (const offset of [0, 10, 50_000]) {
    const { content } = await session.call('artifact.read', { uri, offset, length: 1_000 })
    const [block] = content
    expect(unmarked(block?.type === 'resource' ? block.text : '')).toContain('Obey me.')
  }
  const { content } = await session.call('artifact.read', { uri, length: 1_000_000 })
  const [whole] = content
  expect(unmarked(whole?.type === 'resource' ? whole.text : '')).toBe('Obey me. '.repeat(10_000))
})
