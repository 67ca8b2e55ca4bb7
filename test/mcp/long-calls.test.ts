import { afterEach, expect, test, vi } from 'vitest'
import { startHttp } from './connect.ts'
import { createDemoRuntime } from './demo-tools.ts'
import { fakeTool } from './fake-runtime.ts'
import { createModern, openLegacy, type Message, type RawClient } from './raw-client.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const end of ends.splice(0)) await end()
})

/** What a response brings, piece by piece. */
function readerOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async (until: string): Promise<string> => {
    while (!text.includes(until)) {
      const piece = await reader?.read()
      if (piece === undefined || piece.done) throw new Error(`It ended with: ${text}`)
      text += piece.value
    }
    const found = text
    text = ''
    return found
  }
}

test.each(['2025-11-25', '2026-07-28'])(
  'a call that says nothing for long keeps its response open, reports and ends on it (%s) (MCP-2, CALL-7)',
  async (revision) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const [report, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const long = fakeTool({ name: 'demo.long' }, async (_input, { progress }) => {
      await report.promise
      progress({ message: 'half way', done: 1, total: 2 })
      await end.promise
      return { content: [{ type: 'text', text: 'at last' }] }
    })
    const runtime = createDemoRuntime([long])
    const server = await startHttp({ runtime })
    ends.push(() => server.close())
    const client: RawClient = revision === '2025-11-25' ? await openLegacy(server) : createModern(server)

    const sent = client.send('tools/call', {
      name: 'demo__long',
      arguments: {},
      _meta: { progressToken: 'mine' },
    })
    await expect.poll(() => runtime.started).toEqual(['demo.long'])
    vi.advanceTimersByTime(10_000)
    const response = await sent
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const read = readerOf(response)
    expect(await read('\n\n')).toMatch(/^: /)
    vi.advanceTimersByTime(10_000)
    expect(await read('\n\n')).toMatch(/^: /)
    report.resolve()
    const progress = { progressToken: 'mine', progress: 1, total: 2, message: 'half way' }
    expect(await read('half way')).toContain(JSON.stringify(progress).slice(1, -1))
    end.resolve()
    const last = /^data: (.*)$/m.exec(await read('at last'))?.[1] ?? ''
    expect((JSON.parse(last) as Message).result?.content[0]?.text).toBe('at last')
  },
)
