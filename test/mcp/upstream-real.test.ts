import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { realServer } from '../support/real-servers.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

const mark = /^<(untrusted-[0-9a-f]{24}) from=/

test('the tools of real servers are imported, listed and called on the road (MCP-1)', async () => {
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
  const familiar = await session.call('ListMcpResources', { server: 'everything' }, { face: 'familiar' })
  expect([familiar.tool, familiar.data]).toEqual(['mcp.list_resources', listed.data])
  const all = await session.call('mcp.list_resources')
  expect(all.data).toEqual(listed.data)
  const wrong = await session.call('mcp.read_resource', { server: 'everythin', uri: 'x:y' })
  expect(wrong.error).toMatchObject({ reason: 'invalid_input', data: { nearest: ['everything'] } })
})
