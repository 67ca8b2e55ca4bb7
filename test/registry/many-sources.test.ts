import { expect, test, vi } from 'vitest'
import { makeSource, makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const long = { description: 'Says much of what it does. '.repeat(50) }

test.each(['memory', 'file'] as const)(
  'what a source costs to register does not grow with the sources before it, in a store in %s (DEF-10)',
  async (kind) => {
    const runtime = await openRuntime({ store: kind === 'memory' ? kind : { path: `${makeFolder()}/s.db` } })
    const parse = vi.spyOn(JSON, 'parse')
    const counts: number[] = []
    try {
      for (let index = 0; index < 12; index++) {
        const tools = ['a', 'b', 'c'].map((name) => makeTool(`mcp.s${index}.${name}`, long))
        parse.mockClear()
        await runtime.register([makeSource('mcp', `mcp.s${index}`, tools)])
        counts.push(parse.mock.calls.filter(([text]) => String(text).includes(long.description)).length)
      }
    } finally {
      parse.mockRestore()
    }
    expect(counts.at(-1)).toBe(counts[2])
    // Each is pinned all the same.
    expect(runtime.store.facts('pin').filter(({ id }) => id.startsWith('mcp.'))).toHaveLength(36)
    await runtime.remove(['mcp.s0.a'])
    await runtime.register([makeSource('mcp', 'other', [makeTool('mcp.s0.a', long)])])
    expect((await runtime.session().call('mcp.s0.a')).error?.reason).toBe('definition_pending')
  },
)
