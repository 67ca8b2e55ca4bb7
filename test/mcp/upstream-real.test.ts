import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from 'handrail'
import { expect, test } from 'vitest'
import { images } from '../support/images.ts'
import { makeFolder } from '../support/project.ts'
import { realServer } from '../support/real-servers.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

const dot = images['image/png']
const mark = /^<(untrusted-[0-9a-f]{24}) from=/

test('the tools of real servers are imported, listed and called in the pipeline (MCP-1)', async () => {
  const folder = makeFolder({ 'notes.txt': 'Buy tea.' })
  const runtime = await openUpstreams({
    fs: { ...realServer('filesystem', folder), write: [folder], tools: { readonly: ['read_*', 'list_*'] } },
    memory: { ...realServer('memory'), write: [folder], env: { MEMORY_FILE_PATH: `${folder}/memory.json` } },
  })
  const session = runtime.session()
  const names = session.tools().map(({ tool }) => tool)
  expect(names).toContain('mcp.fs.read_text_file')
  expect(names).toContain('mcp.memory.create_entities')
  const read = await session.call('mcp.fs.read_text_file', { path: `${folder}/notes.txt` })
  expect(said(read)).toBe('Buy tea.')
  expect(read.data).toEqual({ content: 'Buy tea.' })
  const entity = { name: 'tea', entityType: 'drink', observations: ['green'] }
  await session.call('mcp.memory.create_entities', { entities: [entity] })
  const graph = await session.call('mcp.memory.read_graph')
  expect(graph.data).toMatchObject({ entities: [entity] })
  const ends = [...runtime.store.records({ kind: 'end' })]
  expect(ends).toHaveLength(3)
})

test('where a program misses a file that the sandbox keeps from it, the error says who can change that (MCP-1)', async () => {
  const folder = makeFolder({ 'notes.txt': 'Buy tea.' })
  const fs = realServer('filesystem', folder)
  const memory = { ...realServer('memory'), env: { MEMORY_FILE_PATH: `${folder}/memory.json` } }
  const runtime = await openUpstreams({ fs: { ...fs, read: [...fs.read, folder] }, memory })
  const call = async (tool: string, input: object) =>
    (await runtime.session().call(`mcp.${tool}`, input)).error?.message
  const advice = 'writes only to those under "write"'
  expect(await call('fs.write_file', { path: `${folder}/new.txt`, content: 'a' })).toContain(advice)
  expect(
    await call('memory.create_relations', { relations: [{ from: 'a', to: 'b', relationType: 'c' }] }),
  ).toContain(advice)
  expect(await call('fs.read_text_file', { path: '/etc/passwd' })).toMatch(
    /^"mcp\.fs\.read_text_file" failed.*stands in the result\.$/,
  )
})

test('every kind of content, progress and cancellation of a real server come through (MCP-1)', async () => {
  const runtime = await openUpstreams({ everything: realServer('everything', 'stdio') })
  const session = runtime.session()
  const progress: unknown[] = []
  session.on((event) => event.type === 'tool_progress' && progress.push(event.data))
  const call = (tool: string, input: object) => session.call(`mcp.everything.${tool}`, input)
  expect(said(await call('echo', { message: 'hi' }))).toBe('Echo: hi')
  const structured = await call('get-structured-content', { location: 'New York' })
  expect(JSON.parse(said(structured))).toEqual(structured.data)
  const image = await call('get-tiny-image', {})
  expect(image.content.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
  expect(image.metadata.media).toMatchObject([{ kind: 'image', mimeType: 'image/png', width: 20 }])
  const links = await call('get-resource-links', { count: 1 })
  expect(links.content[1]).toMatchObject({
    type: 'resource',
    name: expect.any(String) as string,
    aside: { description: expect.any(String) as string },
  })
  const embedded = await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
  expect(embedded.content[1]).toMatchObject({ type: 'resource', text: expect.stringMatching(mark) as string })
  const annotated = await call('get-annotated-message', { messageType: 'error', includeImage: false })
  expect(annotated.content[0]).toMatchObject({ type: 'text', aside: { annotations: { priority: 1 } } })
  await call('trigger-long-running-operation', { duration: 0.4, steps: 2 })
  expect(progress).toContainEqual({ done: 1, total: 2 })
  const stopping = new AbortController()
  const long = session.call(
    'mcp.everything.trigger-long-running-operation',
    { duration: 20, steps: 200 },
    { signal: stopping.signal },
  )
  await expect.poll(() => progress.length).toBeGreaterThan(1)
  stopping.abort()
  expect((await long).error?.code).toBe('TOOL.ABORTED')
  expect(said(await call('echo', { message: 'still there' }))).toBe('Echo: still there')
})

test('resources of servers are listed and read (BI-9)', async () => {
  const runtime = await openUpstreams({ everything: realServer('everything', 'stdio') })
  const session = runtime.session()
  const listed = await session.call('mcp.list_resources', { server: 'everything' })
  const { resources } = listed.data as { resources: { server: string; uri: string }[] }
  const [first] = resources
  expect(first).toMatchObject({ server: 'everything' })
  const read = await session.call('mcp.read_resource', { server: 'everything', uri: first?.uri })
  expect(read.content[0]).toMatchObject({
    type: 'resource',
    uri: first?.uri,
    text: expect.stringMatching(mark) as string,
  })
  const compatible = await session.call(
    'ListMcpResources',
    { server: 'everything' },
    { presentation: 'compatible' },
  )
  expect([compatible.tool, compatible.data]).toEqual(['mcp.list_resources', listed.data])
  const all = await session.call('mcp.list_resources')
  expect(all.data).toEqual(listed.data)
  const wrong = await session.call('mcp.read_resource', { server: 'everythin', uri: 'x:y' })
  expect(wrong.error).toMatchObject({ reason: 'invalid_input', data: { nearest: ['everything'] } })
})

/** What a tool is called with, one after the other, and a part of what it says. */
type Calls = readonly (readonly [tool: string, input: object, says: string])[]

/** Calls all of them, and sees that these are all tools that the server has. */
async function callAll(
  runtime: Runtime,
  server: string,
  { calls, others = [] }: { calls: Calls; others?: readonly string[] },
): Promise<void> {
  const session = runtime.session()
  const own = session
    .tools()
    .map(({ tool }) => tool)
    .filter((tool) => tool.startsWith(`mcp.${server}.`) && !others.includes(tool))
  expect(own.toSorted()).toEqual([...new Set(calls.map(([tool]) => `mcp.${server}.${tool}`))].toSorted())
  for (const [tool, input, says] of calls) {
    const result = await session.call(`mcp.${server}.${tool}`, input)
    expect([tool, result.error]).toEqual([tool, undefined])
    expect([tool, JSON.stringify([result.content, result.data ?? null])]).toEqual([
      tool,
      expect.stringContaining(says),
    ])
    const { outputSchema } = runtime.registry.find(`mcp.${server}.${tool}`)?.definition ?? {}
    expect([tool, result.data !== undefined]).toEqual([tool, outputSchema !== undefined])
  }
}

test('every tool of the server of files does its work (MCP-1)', async () => {
  const folder = makeFolder({ 'notes.txt': 'Buy tea.\nAnd milk.', 'sub/b.txt': 'b', 'dot.png': dot })
  const runtime = await openUpstreams({ fs: { ...realServer('filesystem', folder), write: [folder] } })
  const at = (name: string) => join(folder, name)
  const calls: Calls = [
    ['list_allowed_directories', {}, folder],
    ['read_file', { path: at('notes.txt'), head: 1 }, 'Buy tea.'],
    ['read_text_file', { path: at('notes.txt'), tail: 1 }, 'And milk.'],
    ['read_media_file', { path: at('dot.png') }, dot.toString('base64')],
    ['read_multiple_files', { paths: [at('notes.txt'), at('sub/b.txt')] }, 'And milk.'],
    ['write_file', { path: at('new.txt'), content: 'one' }, 'new.txt'],
    ['edit_file', { path: at('new.txt'), edits: [{ oldText: 'one', newText: 'two' }] }, '+two'],
    ['create_directory', { path: at('made') }, 'made'],
    ['move_file', { source: at('new.txt'), destination: at('made/moved.txt') }, 'moved.txt'],
    ['list_directory', { path: folder }, '[DIR] made'],
    ['list_directory_with_sizes', { path: folder, sortBy: 'size' }, 'notes.txt'],
    ['directory_tree', { path: folder }, 'moved.txt'],
    ['search_files', { path: folder, pattern: '**/*.txt' }, 'moved.txt'],
    ['get_file_info', { path: at('notes.txt') }, 'size'],
  ]
  await callAll(runtime, 'fs', { calls })
  expect(readFileSync(at('made/moved.txt'), 'utf8')).toBe('two')
})

test('every tool of the server of a memory does its work, and it remembers (MCP-1)', async () => {
  const folder = makeFolder()
  const memory = {
    ...realServer('memory'),
    write: [folder],
    env: { MEMORY_FILE_PATH: `${folder}/memory.json` },
  }
  const relation = { from: 'Ada', to: 'tea', relationType: 'drinks' }
  const runtime = await openUpstreams({ memory })
  const calls: Calls = [
    ['create_entities', { entities: ['Ada', 'tea'].map((name) => entity(name)) }, 'Ada'],
    ['create_relations', { relations: [relation] }, 'drinks'],
    ['add_observations', { observations: [{ entityName: 'tea', contents: ['green', 'hot'] }] }, 'green'],
    ['search_nodes', { query: 'green' }, 'tea'],
    ['open_nodes', { names: ['Ada'] }, 'Ada'],
    ['read_graph', {}, 'drinks'],
    ['delete_observations', { deletions: [{ entityName: 'tea', observations: ['hot'] }] }, 'success'],
    ['delete_relations', { relations: [relation] }, 'success'],
    ['delete_entities', { entityNames: ['Ada'] }, 'success'],
  ]
  await callAll(runtime, 'memory', { calls })
  await runtime.close()
  const again = await openUpstreams({ memory })
  const { data } = await again.session().call('mcp.memory.read_graph')
  expect(data).toMatchObject({ entities: [{ name: 'tea', observations: ['green'] }], relations: [] })
})

const entity = (name: string) => ({ name, entityType: 'thing', observations: [] })

test('every tool of the server of everything does its work (MCP-1)', async () => {
  const runtime = await openUpstreams(
    { everything: realServer('everything', 'stdio') },
    {
      elicit: async ({ mode }) => ({
        action: 'accept',
        ...(mode === 'form' && { content: { name: 'Ada' } }),
      }),
    },
  )
  const data = 'data:text/plain;base64,SGVsbG8='
  const calls: Calls = [
    ['echo', { message: 'hi' }, 'Echo: hi'],
    ['get-sum', { a: 2, b: 3 }, '5'],
    ['get-env', {}, 'PATH'],
    ['get-tiny-image', {}, 'image/png'],
    ['get-annotated-message', { messageType: 'success', includeImage: true }, 'priority'],
    ['get-resource-links', { count: 2 }, 'demo://resource/'],
    ['get-resource-reference', { resourceType: 'Blob', resourceId: 1 }, 'blob'],
    ['get-structured-content', { location: 'Chicago' }, 'humidity'],
    ['gzip-file-as-resource', { name: 'a.gz', data, outputType: 'resource' }, 'application/gzip'],
    ['toggle-simulated-logging', {}, 'ogging'],
    ['toggle-simulated-logging', {}, 'ogging'],
    ['toggle-subscriber-updates', {}, 'pdates'],
    ['toggle-subscriber-updates', {}, 'pdates'],
    ['trigger-elicitation-request', {}, 'Ada'],
    ['trigger-url-elicitation', { url: 'https://example.com/' }, 'ccept'],
    ['trigger-long-running-operation', { duration: 0.2, steps: 2 }, 'completed'],
  ]
  // It takes four seconds, and has a test of its own.
  const asTask = 'mcp.everything.simulate-research-query'
  await callAll(runtime, 'everything', { calls, others: [asTask] })
})

test('a tool that its server runs as a task only is followed to its end, and asks on the way (MCP-1)', async () => {
  const asked: string[] = []
  const runtime = await openUpstreams(
    { everything: realServer('everything') },
    {
      elicit: async (elicitation) => {
        asked.push(elicitation.mode === 'form' ? elicitation.message : elicitation.mode)
        return { action: 'accept', content: { interpretation: 'technical' } }
      },
    },
  )
  const asTask = 'mcp.everything.simulate-research-query'
  const done = await runtime.session().call(asTask, { topic: 'python', ambiguous: true })
  expect([done.outcome, asked.length]).toEqual(['ok', 1])
  expect(asked[0]).toContain('python')
  expect(said(done)).toContain('Research Report: python')
})
