import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { call, handrail, makePlace, startHandrail, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { cardOf, issuer, listen } from './two-domains.ts'

const allowAll = { rules: [{ effect: 'allow', tools: ['*'] }] }

/** A person whose Handrail calls others; what they have to know of its keys. */
async function makeCaller(): Promise<{ place: Place; keys: unknown[] }> {
  const place = makePlace({}, { 'policy.json': allowAll })
  const shown = await handrail(place, ['a2a', 'keys'])
  return { place, keys: JSON.parse(shown.stdout).keys }
}

/** Names an agent in the configuration of a person. */
function nameAgent({ home }: Place, card: string, more: object = {}): void {
  const a2a = { issuer, agents: { files: { card, ...more } } }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ a2a }))
}

function makeCallee(keys: readonly unknown[], policy: object = allowAll, more: object = {}): Place {
  const peers = [{ issuer, keys, actor: 'caller' }]
  const gateway = { a2a: { tools: ['code.read_file', 'code.write_file'], peers, ...more } }
  return makePlace({ 'note.txt': 'from the other side' }, { 'policy.json': policy, 'gateway.json': gateway })
}

/** Hands a request on to a server that listens elsewhere. */
async function forward(request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> {
  const body = await text(request)
  const { authorization } = request.headers
  const answer = await fetch(`${origin}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
    ...(body !== '' && { body }),
  }).catch(() => undefined)
  if (answer === undefined) return void response.destroy()
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}

const cardAt = (url: string): string => cardOf({ url: url.replace('/mcp', '/a2a') })

describe('NEXT-3: two processes of handrail', () => {
  test('call each other by their files, and name the record of the other side where people look', async () => {
    const { place, keys } = await makeCaller()
    const callee = makeCallee(keys)
    const server = await startServer(callee)
    expect(server.output.stdout).toContain('peers      1 over A2A, at /a2a')
    nameAgent(place, cardAt(server.url), { tools: { readonly: ['code.read_file'] } })
    const status = await handrail(place, ['a2a'])
    expect(status).toMatchObject({ code: 0 })
    expect(status.stdout).toMatch(
      /^files {2}2 tools .*\n {2}a2a\.files\.code\.read_file\n {2}a2a\.files\.code\.write_file\n$/,
    )
    const read = await call(place, 'a2a.files.code.read_file', { path: 'note.txt' })
    expect(read).toMatchObject({ code: 0 })
    expect(read.stdout).toContain('from the other side')
    const written = await call(place, 'a2a.files.code.write_file', { path: 'new.txt', content: 'x' })
    expect(written).toMatchObject({ code: 0 })
    expect(readFileSync(join(callee.project, 'new.txt'), 'utf8')).toBe('x')

    const listOf = async (where: Place) =>
      JSON.parse((await handrail(where, ['evidence', 'list', '--json', '--tool', '*read_file'])).stdout)
    const [own] = await listOf(place)
    const [other] = await listOf(callee)
    expect(own.counterpart).toMatchObject({
      call: other.call,
      record: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(other.askedBy).toMatchObject({ domain: issuer, call: own.call })
    const lines = (await handrail(callee, ['evidence', 'list'])).stdout
    expect(lines).toContain(`asked by ${issuer} as ${own.call}`)
    const explained = (await handrail(place, ['explain', '--call', own.call])).stdout
    expect(explained).toContain(`as ${other.call}, record ${own.counterpart.record}`)
    expect((await handrail(callee, ['explain', '--call', other.call])).stdout).toContain(
      `asked by    ${issuer} as ${own.call}`,
    )
    for (const each of [place, callee]) expect((await handrail(each, ['evidence', 'verify'])).code).toBe(0)
  })

  test('a change of gateway.json turns a peer away, and keys of a person can be changed', async () => {
    const { place, keys } = await makeCaller()
    const path = join(place.home, 'a2a-keys.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const added = JSON.parse((await handrail(place, ['a2a', 'keys', '--add'])).stdout).keys
    expect(added).toEqual([...keys, expect.objectContaining({ crv: 'Ed25519' })])
    expect(JSON.stringify(added)).not.toContain('"d"')
    const callee = makeCallee(added)
    const server = await startServer(callee)
    nameAgent(place, cardAt(server.url))
    await handrail(place, ['a2a'])
    const read = async () => (await call(place, 'a2a.files.code.read_file', { path: 'note.txt' })).code
    expect(await read()).toBe(0)
    expect((await handrail(place, ['a2a', 'keys', '--use', added[1].kid])).code).toBe(0)
    expect((await handrail(place, ['a2a', 'keys', '--remove', added[0].kid])).code).toBe(0)
    expect((await handrail(place, ['a2a', 'keys', '--remove', added[1].kid])).stderr).toContain('signs')
    expect(await read()).toBe(0)
    const peers = [{ issuer: 'https://another.example', keys: added, actor: 'caller' }]
    const gateway = { a2a: { tools: ['code.read_file'], peers } }
    writeFileSync(join(callee.home, 'gateway.json'), JSON.stringify(gateway))
    await server.saw('who may connect is as gateway.json says now')
    expect(await read()).toBe(1)
    const said = await call(place, 'a2a.files.code.read_file', { path: 'note.txt' })
    expect(`${said.stdout}${said.stderr}`).toContain('handrail a2a keys')
  })

  test('a callee that is killed while a person is asked leaves a call whose outcome is not known', async () => {
    const { place, keys } = await makeCaller()
    const front = await listen()
    const callee = makeCallee(keys, {}, { url: front.url })
    const start = async () => {
      const running = startHandrail(callee, ['serve', '--port', '0'])
      await running.saw('Ctrl-C stops.')
      const url = /serves MCP at (\S+)/.exec(running.output.stdout)?.[1] ?? ''
      front.answer = (request, response) => void forward(request, response, new URL(url).origin)
      return running
    }
    const first = await start()
    nameAgent(place, cardOf(front))
    await handrail(place, ['a2a'])
    const calling = call(place, 'a2a.files.code.write_file', { path: 'new.txt', content: 'x' })
    // From then on it knows its task.
    await expect.poll(() => front.heard.some(({ body }) => body.includes('"GetTask"'))).toBe(true)
    front.answer = (_, response) => void response.destroy()
    first.child.kill('SIGKILL')
    await first.ended
    const second = await start()
    const ended = await calling
    expect(ended.code).toBe(1)
    expect(`${ended.stdout}${ended.stderr}`).toContain('The process that did the call is gone')
    second.child.kill('SIGTERM')
    await second.ended
  })

  test('what is wrong with the files is said, with the place', async () => {
    const keys = [{ kty: 'OKP', crv: 'Ed25519', kid: 'k', x: 'x', d: 'secret' }]
    const peers = [{ issuer, keys, actor: 'a' }]
    const faulty = makePlace({}, { 'gateway.json': { a2a: { tools: ['code.*'], peers } } })
    const served = await handrail(faulty, ['serve', '--port', '0'])
    expect(served.code).toBe(2)
    expect(served.stderr).toContain('/a2a/peers/0/keys/0/d')
    const config = { a2a: { issuer, agents: { 'a b': { card: 'http://elsewhere.example/card' } } } }
    const configured = await handrail(makePlace({}, { 'config.json': config }), ['tools'])
    expect(configured.code).toBe(2)
    expect(configured.stderr).toContain('is not encrypted')
    expect(configured.stderr).toContain('The name of an agent')
  })
})
