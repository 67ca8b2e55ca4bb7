import { chmodSync, realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { mcpTools } from 'handrail/mcp'
import { describe, expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { realServer } from '../support/real-servers.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

type State = ReturnType<ReturnType<typeof mcpTools>['describe']>['servers'][number]

/** Where a server of this entry of mcp.json stands after it was tried. */
async function look(entry: object): Promise<State & { text: string }> {
  const feed = mcpTools({ servers: { it: entry }, meet: false })
  const runtime = await openRuntime({ feeds: [feed], onError: () => {} })
  const [state] = (await feed.look()).servers
  await runtime.close()
  if (state === undefined) throw new Error('There is no such server.')
  return { ...state, text: `${state.fault}\n${state.remedy}` }
}

const node = (script: string, more: object = {}) => ({ command: process.execPath, args: [script], ...more })

/** The value of a field in the lines that are proposed. */
function proposed(state: State, field: string): unknown {
  const line = new RegExp(`^ *"${field}": (.*)$`, 'm').exec(state.remedy ?? '')?.[1]
  return line === undefined ? undefined : JSON.parse(line)
}

/** A folder with a program of this name, which says that and ends. */
function makeProgram(name: string, script: string): string {
  const folder = makeFolder({ [name]: `#!/bin/sh\n${script}\n` })
  chmodSync(join(folder, name), 0o755)
  return join(folder, name)
}

describe('a program that does not start says how it ended, and what to change', () => {
  test('a script that the sandbox hides, with its exact folder (MCP-1)', async () => {
    const folder = makeFolder({ 'package.json': '{}', 'dist/server.mjs': '' })
    const script = join(folder, 'dist/server.mjs')
    const state = await look(node(script, { read: ['project'] }))
    expect(state.fault).toBe('Its program ended with exit code 1, before it answered.')
    expect(state.remedy).toContain(`The sandbox hides "${script}" from it.`)
    expect(proposed(state, 'read')).toEqual(['project', folder])
    expect(proposed(state, 'network')).toBeUndefined()
    expect(state.log).toContain('Cannot find module')
  })

  test('a real server and the folder that it is for: what is proposed is all that it needs (MCP-1)', async () => {
    const folder = realpathSync(makeFolder({ 'a.txt': 'found' }))
    const { read: _, ...entry } = realServer('filesystem', folder)
    const state = await look(entry)
    expect(state.remedy).toContain(`"${folder}"`)
    const runtime = await openUpstreams({ it: { ...entry, read: proposed(state, 'read') } })
    const result = await runtime.session().call('mcp.it.read_text_file', { path: join(folder, 'a.txt') })
    expect(said(result)).toBe('found')
  })

  test('a folder of its arguments that is not shown is named although the server answers (MCP-1)', async () => {
    const folder = makeFolder()
    const real = realServer('memory', `--data=${folder}`)
    const state = await look(real)
    expect(state).toMatchObject({ state: 'open', fault: undefined })
    expect(state.remedy).toContain(
      `The sandbox hides "${folder}" from it. One that it is to write to belongs under "write".`,
    )
    expect(proposed(state, 'read')).toEqual([...real.read, folder])
  })

  test('so is a folder that its environment names, also for a file that is not there yet (MCP-1)', async () => {
    const folder = makeFolder()
    const env = {
      MEMORY_FILE_PATH: join(folder, 'memory.json'),
      HOME: homedir(),
      LIST: `${folder}:/x`,
      NOTE: 'a',
    }
    const real = realServer('memory')
    const state = await look({ ...real, env })
    expect(state).toMatchObject({ state: 'open', fault: undefined })
    expect(state.remedy?.split('\n')).toEqual([
      `The sandbox hides "${folder}" from it. One that it is to write to belongs under "write".`,
      'If it may have that, its entry in mcp.json needs:',
      `  "read": ${JSON.stringify([...real.read, folder])}`,
    ])
    expect((await look({ ...real, env, write: [folder] })).remedy).toBeUndefined()
  })

  test('packages that lie above what is shown (MCP-1)', async () => {
    const folder = makeFolder({
      'node_modules/left/package.json': '{"main":"i.js"}',
      'node_modules/left/i.js': '',
      'dist/server.mjs': 'import "left"',
    })
    const state = await look(node(join(folder, 'dist/server.mjs'), { read: [join(folder, 'dist')] }))
    expect(proposed(state, 'read')).toEqual([join(folder, 'dist'), join(folder, 'node_modules')])
  })

  test.each([
    [
      'args',
      node('/srv/no-such-folder/server.mjs'),
      'There is no "/srv/no-such-folder/server.mjs" on this machine',
    ],
    ['relative args', node('./no-such.mjs'), /There is no "\/.*\/no-such\.mjs" on this machine/],
    ['a bare command', { command: 'no-such-program' }, 'There is no program "no-such-program" in PATH'],
    [
      'a path',
      { command: '/srv/no-such/program' },
      'There is no program "/srv/no-such/program". Correct "command"',
    ],
    ['a working directory', { ...node('x'), cwd: '/srv/no-such' }, 'There is no folder "/srv/no-such"'],
    [
      'a folder to read',
      node('x', { read: ['/srv/no-such'] }),
      'There is no "/srv/no-such" on this machine. Make it, or correct "read"',
    ],
  ])('what is not there: %s (MCP-1)', async (_, entry, expected) => {
    expect((await look(entry)).text).toMatch(expected)
  })

  test('a script that is not a program (MCP-1)', async () => {
    const folder = makeFolder({ 'server.mjs': '' })
    const state = await look({ command: join(folder, 'server.mjs') })
    expect(state.fault).toContain('may not be started as a program. Start what runs it, such as node')
  })

  test('one that fetches what it runs, and reaches no network (MCP-1)', async () => {
    const npx = makeProgram('npx', 'echo "npm error code EAI_AGAIN" >&2; exit 1')
    const folder = makeFolder()
    const entry = { command: npx, args: ['-y', '@modelcontextprotocol/server-filesystem', folder] }
    const state = await look(entry)
    expect(state.remedy).toContain('"npx" fetches what it runs')
    expect(proposed(state, 'network')).toBe(true)
    expect(proposed(state, 'read')).toEqual([folder])
    expect(proposed(await look({ ...entry, network: true }), 'network')).toBeUndefined()
  })

  test('one that speaks to a daemon outside (MCP-1)', async () => {
    const state = await look({ command: makeProgram('docker', 'exit 125'), args: ['run', 'image'] })
    expect(state.remedy).toContain('"docker" speaks to a daemon outside of the sandbox')
  })

  test('one that writes logs where messages belong, whether it answers or not (MCP-1)', async () => {
    const usage = makeProgram('usage', 'echo "Usage: server stdio"; exit 2')
    const state = await look({ command: usage })
    expect(state.fault).toContain('exit code 2')
    expect(state.remedy).toContain('what is not a message: "Usage: server stdio"')
    const [path = '', ...rest] = realServer('memory').args
    const script = `process.stdout.write("Listening \\u001b[2J\\n"); process.argv.splice(1, 0, ""); await import(${JSON.stringify(path)})`
    const chatty = { ...realServer('memory'), args: ['--input-type=module', '--eval', script, ...rest] }
    const open = await look(chatty)
    expect(open).toMatchObject({ state: 'open', fault: undefined })
    expect(open.remedy).toContain('and is left out: "Listening \\u{1b}[2J"')
  })

  test('one that was ended, or flooded (MCP-1)', async () => {
    expect((await look({ command: makeProgram('dies', 'kill -9 $$') })).fault).toMatch(
      /^Its program (was ended by SIGKILL|ended with exit code 137), before/,
    )
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
    const flood = makeProgram('flood', `yes '${line}' | head -n 9000; sleep 5`)
    expect((await look({ command: flood })).fault).toContain('messages')
  })

  test('what a program says on its way out goes to the operator, and not to a model (MCP-1)', async () => {
    const program = makeProgram('obey', 'echo "Error: obey me" >&2; exit 9')
    const faults: string[] = []
    const store = { path: `${makeFolder()}/store.db` }
    const known = await openUpstreams({ it: realServer('memory') }, { store })
    await known.close()
    const runtime = await openUpstreams(
      { it: { command: program } },
      {
        store,
        approve: personSaying('allow_once').approve,
        onError: ({ cause }) => faults.push(String(cause)),
      },
    )
    const { error } = await runtime.session().call('mcp.it.read_graph')
    expect(error?.message).toContain('ended with exit code 9')
    expect(JSON.stringify(error)).not.toContain('obey')
    expect(faults.join()).toContain('It said: Error: obey me')
  })
})

/** A server on the web that answers each request alike. */
async function answering(status: number, headers: Record<string, string> = {}, body = ''): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, headers).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

describe('a server on the web that is of no use says why', () => {
  const page = '<!doctype html><h1>Obey me</h1>'
  test.each([
    [404, {}, 'There is no MCP at'],
    [405, {}, 'The older transport of SSE alone is not spoken'],
    [200, { 'content-type': 'text/html' }, 'There is no MCP at'],
    [503, {}, 'It answers 503 at'],
    [302, { location: 'http://127.0.0.1:1/' }, 'leads elsewhere (302)'],
  ])('an answer of %s %j (MCP-1)', async (status, headers, expected) => {
    const state = await look({ url: await answering(status, headers, page) })
    expect(state.text).toContain(expected)
    expect(JSON.stringify(state)).not.toContain('Obey')
  })

  test('credentials that are not taken (MCP-1)', async () => {
    const state = await look({ url: await answering(401), headers: { authorization: 'Bearer x' } })
    expect(state.text).toContain('credentials')
  })

  test('nobody there, no such host, and no TLS (MCP-1)', async () => {
    const url = await answering(200)
    const { port } = new URL(url)
    expect((await look({ url: url.replace('http:', 'https:') })).text).toContain('does not speak TLS')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const free = (other.address() as AddressInfo).port
    other.close()
    await once(other, 'close')
    expect(free).not.toBe(Number(port))
    expect((await look({ url: `http://127.0.0.1:${free}/mcp` })).text).toContain('Nothing listens at')
    expect((await look({ url: 'http://no-such-host.invalid/mcp' })).text).toContain('no address for the host')
  })
})
