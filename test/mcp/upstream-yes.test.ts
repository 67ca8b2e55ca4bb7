import { expect, test } from 'vitest'
import { personSaying } from '../support/project.ts'
import { startScripted } from '../support/scripted-server.ts'
import { fixtureTool, makeFixtureServer, openUpstreams } from '../support/upstreams.ts'

test('a yes for the session covers the tool at its server, whatever the input, and no other tool (PERM-4, MCP-1)', async () => {
  const server = makeFixtureServer([fixtureTool('echo'), fixtureTool('asked')])
  const person = personSaying('allow_for_session')
  const runtime = await openUpstreams({ it: server.file }, { approve: person.approve })
  const session = runtime.session()
  for (const text of ['a', 'b', 'c']) expect((await session.call('mcp.it.echo', { text })).ok).toBe(true)
  expect(person.asked.map(({ scope }) => scope)).toEqual(['mcp.it'])
  await session.call('mcp.it.asked')
  await runtime.session().call('mcp.it.echo', { text: 'a' })
  expect(person.asked.map(({ tool }) => tool)).toEqual(['mcp.it.echo', 'mcp.it.asked', 'mcp.it.echo'])
})

test('a yes for the session to a server on the web names the hosts that it covers (PERM-4, MCP-1)', async () => {
  const server = await startScripted(() => undefined)
  const person = personSaying('allow_for_session')
  const runtime = await openUpstreams(
    { it: { url: server.url, network: ['files.example'] } },
    { approve: person.approve },
  )
  const session = runtime.session()
  for (const text of ['a', 'b']) expect((await session.call('mcp.it.act', { text })).ok).toBe(true)
  expect(person.asked.map(({ scope }) => scope)).toEqual(['mcp.it, 127.0.0.1, files.example'])
})

test('a tool that the operator says only reads asks nobody where its server reaches no network (PERM-2, MCP-1)', async () => {
  const server = makeFixtureServer([fixtureTool('echo')])
  const runtime = await openUpstreams(
    { it: { ...server.file, tools: { readonly: ['echo'] } } },
    { approve: undefined },
  )
  expect((await runtime.session().call('mcp.it.echo', { text: 'a' })).ok).toBe(true)
})

test('where nobody can be asked, the answer names the rule and the call that let the tool through, and both do (PERM-5, MCP-1)', async () => {
  const server = makeFixtureServer([fixtureTool('echo')])
  const runtime = await openUpstreams({ it: server.file }, { approve: undefined })
  const denied = await runtime.session().call('mcp.it.echo', { text: 'a' })
  expect(denied.error?.reason).toBe('no_callback')
  const { message = '' } = denied.error ?? {}
  expect(message).toContain('runtime.consents.give({"tool":"mcp.it.echo","givenBy":"…"})')
  const rule = /\{.*?\}/.exec(message)?.[0] ?? ''
  await runtime.reload({ policy: { rules: [JSON.parse(rule)] } })
  expect((await runtime.session().call('mcp.it.echo', { text: 'a' })).ok).toBe(true)
  await runtime.reload({ policy: {} })
  await runtime.consents.give({ tool: 'mcp.it.echo', givenBy: 'ann' })
  expect((await runtime.session().call('mcp.it.echo', { text: 'b' })).ok).toBe(true)
})
