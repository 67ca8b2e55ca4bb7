import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { PendingApproval } from 'handrail/approvals'
import { expect, test, vi } from 'vitest'
import { createClient, textOf, type ClientOptions, type Era } from '../mcp/connect.ts'
import { atEnd } from '../support/at-end.ts'
import { handrail, jsonOf, makePlace, startHandrail } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'

const token = (id: string) => ({
  id,
  actor: id,
  sha256: createHash('sha256').update(`hr_${id}`).digest('hex'),
})
const own = (rule: object) => ({
  'policy.json': { approvers: [{ tools: ['code.*'], ...rule }] },
  'gateway.json': { tokens: [token('ann'), { ...token('bob'), approver: true }] },
})

/** A client with the token of ann. */
async function connect(url: string, options: ClientOptions) {
  const client = createClient(options)
  const requestInit = { headers: { authorization: 'Bearer hr_ann' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  atEnd(() => client.close())
  return client
}

const write = { name: 'code__write_file', arguments: { path: 'a.txt', content: 'hi' } }

async function answer(url: string, id: string, as: string): Promise<number> {
  const { origin } = new URL(url)
  const response = await fetch(`${origin}/approvals/${id}`, {
    method: 'POST',
    body: JSON.stringify({ decision: 'allow_once' }),
    headers: { authorization: `Bearer hr_${as}`, 'content-type': 'application/json' },
  })
  return response.status
}

const eras: Era[] = ['legacy', 'modern']

test.each(eras)(
  'a %s client that cannot be asked is told as what its call waits, and comes back with it (PERM-3, PERM-5)',
  async (era) => {
    const place = makePlace({}, own({ approvers: ['bob'] }))
    const server = await startServer(place)
    const client = await connect(server.url, { era })
    const waits = await client.callTool(write)
    expect(waits.isError).toBe(true)
    const text = textOf(waits as never)
    const [, id = ''] = /(apr_\w+)/.exec(text) ?? []
    expect(text).toContain('POLICY.APPROVAL_PENDING')
    expect(text).toContain('"code__write_file" needs a person\'s yes')
    expect(text).toContain('make the same call again')
    expect(text).not.toContain('code.write_file')
    // Made again too early, it is the same question.
    expect(textOf((await client.callTool(write)) as never)).toContain(id)
    expect(await answer(server.url, id, 'ann')).toBe(403)
    expect(await answer(server.url, id, 'bob')).toBe(200)
    expect(textOf((await client.callTool(write)) as never)).toContain('Created a.txt')
    expect(existsSync(join(place.project, 'a.txt'))).toBe(true)
  },
)

test.each(eras)(
  'the yes of the person of a %s client is that of its actor: where another one has to say yes, it is told so and the call waits on (PERM-3)',
  async (era) => {
    const place = makePlace({}, own({ notRequester: true }))
    const server = await startServer(place)
    const client = await connect(server.url, {
      era,
      onAsk: () => ({ action: 'accept', content: { decision: 'allow_once' } }),
    })
    const told: string[] = []
    const call = client.callTool(write, {
      onprogress: ({ message }) => void told.push(message ?? ''),
    })
    await vi.waitFor(() => expect(told.join()).toContain('the policy wants the yes of another person'))
    const [, id = ''] = /Waits for other people as (apr_\w+): /.exec(told.join()) ?? []
    expect(existsSync(join(place.project, 'a.txt'))).toBe(false)
    expect(await answer(server.url, id, 'bob')).toBe(200)
    expect(textOf((await call) as never)).toContain('Created a.txt')
  },
)

test.each(eras)(
  'a %s client that hears nothing on the way is told at once that others decide, and its person is not asked in vain (PERM-3)',
  async (era) => {
    const place = makePlace({}, own({ needed: 2 }))
    const server = await startServer(place)
    const client = await connect(server.url, { era, onAsk: () => expect.fail('It was asked.') })
    const text = textOf((await client.callTool(write)) as never)
    const [, id = ''] = /(apr_\w+)/.exec(text) ?? []
    expect(text).toContain('POLICY.APPROVAL_PENDING')
    expect(await answer(server.url, id, 'bob')).toBe(200)
    expect(textOf((await client.callTool(write)) as never)).toContain(id)
    await handrail(place, ['approvals', 'allow', id, '--yes', '--as', 'cleo'])
    expect(textOf((await client.callTool(write)) as never)).toContain('Created a.txt')
  },
)

test('the yes of the person of a client counts where it may, and the evidence names its actor (PERM-3)', async () => {
  const place = makePlace({}, own({ approvers: ['ann', 'bob'] }))
  const server = await startServer(place)
  const client = await connect(server.url, {
    era: 'legacy',
    onAsk: () => ({ action: 'accept', content: { decision: 'allow_once' } }),
  })
  expect(textOf((await client.callTool(write)) as never)).toContain('Created a.txt')
  const listed = jsonOf<{ call: string }[]>(await handrail(place, ['evidence', 'list', '--json']))
  const shown = await handrail(place, ['evidence', 'show', listed[0]?.call ?? '', '--json'])
  expect(JSON.parse(shown.stdout)).toMatchObject([{ record: { approval: { by: 'ann' } } }, {}])
})

test('a question outlives a gateway that is killed, and its answer lets the call through once (PERM-3, PERM-5)', async () => {
  const place = makePlace({}, own({ approvers: ['bob'] }))
  const first = startHandrail(place, ['serve', '--port', '0'])
  await first.saw('Ctrl-C stops.')
  const url = /serves MCP at (\S+)/.exec(first.output.stdout)?.[1] ?? ''
  const client = await connect(url, { era: 'modern' })
  await client.callTool(write)
  first.child.kill('SIGKILL')
  await first.ended
  const [waiting] = jsonOf<PendingApproval[]>(await handrail(place, ['approvals', '--json']))
  expect(waiting).toMatchObject({ state: 'waiting', request: { principal: { actor: 'ann' } } })
  await handrail(place, ['approvals', 'allow', 'last', '--yes', '--as', 'bob'])
  const second = await startServer(place)
  const again = await connect(second.url, { era: 'modern' })
  expect(textOf((await again.callTool(write)) as never)).toContain('Created a.txt')
  const other = { ...write, arguments: { path: 'b.txt', content: 'hi' } }
  expect(textOf((await again.callTool(other)) as never)).toContain('POLICY.APPROVAL_PENDING')
})
