import { artifactTools, codeTools, jobTools, webTools, type Tool } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { agentDefinitionTools, planTools, skillTools, taskTools, userTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

/** Every tool that comes with Handrail. */
async function listAll(): Promise<Tool[]> {
  const feed = mcpTools({ servers: { idle: { command: 'true' } }, meet: false })
  const runtime = await openRuntime({ feeds: [feed], project: makeFolder() })
  return [
    ...codeTools({ shell: true }).list(),
    ...webTools({ search: { engine: 'brave', secret: 'BRAVE_KEY' } }).list(),
    ...jobTools().list(),
    ...artifactTools().list(),
    ...skillTools().list(),
    ...taskTools().list(),
    ...planTools().list(),
    ...userTools().list(),
    ...agentDefinitionTools().list(),
    ...runtime.registry.list().map(({ tool }) => tool),
  ]
}

test('every built-in definition and presentation passes the checks of registration (DEF-8, NAME-1, NAME-6)', async () => {
  const tools = await listAll()
  // A copy is a tool like any other, and checked like one.
  const copies = tools.map((tool) => ({ ...tool }))
  const runtime = await openRuntime({ tools: [makeSource('code', 'test', copies)] })
  expect(runtime.registry.size).toBe(tools.length)
  expect(tools.length).toBe(43)
})

test('a source that calls itself built-in is checked like any other, and may not call itself so (DEF-8, NAME-1)', async () => {
  const bad = makeTool('no dots here!', { version: 'x', description: '', sideEffect: 'process' })
  const opening = openRuntime({ tools: [makeSource('builtin', 'mine', [bad])] })
  await expect(opening).rejects.toMatchObject({
    issues: [
      { code: 'invalid_source', message: expect.stringContaining('"builtin"') as string },
      { pointer: expect.stringContaining('/name') as string, code: 'invalid_name' },
      { pointer: expect.stringContaining('/version') as string },
      { pointer: expect.stringContaining('/description') as string },
      { pointer: expect.stringContaining('/permission') as string, code: 'inconsistent_manifest' },
    ],
  })
})

test('a copy of a built-in tool is none of Handrail, and the tool itself cannot be changed (DEF-8)', async () => {
  const [tool] = codeTools().list()
  if (tool === undefined) throw new Error('There are built-in tools.')
  const other = { ...tool, run: () => 'something else' }
  await expect(openRuntime({ tools: [makeSource('builtin', 'builtin.code', [other])] })).rejects.toThrow(
    'Only tools that come with Handrail',
  )
  expect(() => Object.assign(tool, { run: other.run })).toThrow(TypeError)
})
