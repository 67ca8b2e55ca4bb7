import { defineTool, toolOutput } from 'handrail'
import { describe, expect, test } from 'vitest'
import { images } from '../support/images.ts'
import { serveModel, type Sent } from '../support/provider-server.ts'
import { openProject } from './open-project.ts'
import { providers } from './provider-traffic.ts'

const png = images['image/png'].toString('base64')
const plot = defineTool({
  name: 'see.plot',
  description: 'Shows a plot.',
  permission: 'readonly',
  input: { type: 'object', properties: {} },
  run: () =>
    toolOutput({
      content: [
        { type: 'text', text: 'A plot:' },
        { type: 'image', data: png, mimeType: 'image/png' },
      ],
    }),
})
const calls = [
  { id: 'call_a', name: 'code__read_file', input: { path: 'a.txt' } },
  { id: 'call_b', name: 'see__plot', input: {} },
  { id: 'call_c', name: 'code__read_file', input: { path: 'none.txt' } },
]

describe.each(providers)('$name', ({ open, calling, saying, tools, messages, results, signature }) => {
  /** A run against this provider's answers. */
  async function runWith(answers: readonly Sent[], more: object = {}) {
    const { url, got } = await serveModel(answers)
    const { runtime } = await openProject({ tools: [plot] })
    const run = await runtime.run({ model: open(url), prompt: 'Look.', ...more })
    return { runtime, got, run, result: await run.result }
  }

  test('gets tools as it takes them, results in the order of its calls, images, and its signatures back (AGENT-3, PROV-1)', async () => {
    const { got, result } = await runWith([calling('I look.', calls), saying('Done.')])
    expect(result).toMatchObject({
      endReason: 'completed',
      text: 'Done.',
      turns: 2,
      usage: { inputTokens: 200, cachedInputTokens: 60, outputTokens: 40 },
    })
    const [first, second] = got
    if (first === undefined || second === undefined) throw new Error('It was asked less than twice.')
    expect(tools(first)).toContainEqual({
      name: 'code__read_file',
      schema: expect.objectContaining({ type: 'object', required: ['path'] }) as object,
    })
    expect(tools(second)).toEqual(tools(first))
    const told = results(second)
    expect(told.map(({ said }) => /alpha|A plot|none\.txt/.exec(said)?.[0])).toEqual([
      'alpha',
      'A plot',
      'none.txt',
    ])
    const known = told.map(({ id }) => id)
    if (known[0] !== undefined) expect(known).toEqual(['call_a', 'call_b', 'call_c'])
    expect(JSON.stringify(second.body)).toContain(png)
    expect(JSON.stringify(second.body)).toContain(signature)
    // What was sent before is sent again as it was, so that the provider finds it in its cache.
    const before = messages(first)
    expect(messages(second).slice(0, before.length)).toEqual(before)
  })

  test('that refuses the key, is busy and then well, or refuses the request (AGENT-3)', async () => {
    const refuse = (status: number): Sent => ({
      status,
      body: {
        type: 'error',
        error: { type: 'odd', message: `It says ${status}.`, code: status, status: 'ODD' },
      },
      headers: { 'retry-after': '0' },
    })
    expect((await runWith([refuse(401)])).result).toMatchObject({
      endReason: 'failed',
      error: { reason: 'model_refused', message: expect.stringContaining('It says 401.') as string },
    })
    expect((await runWith([refuse(400)])).result).toMatchObject({
      endReason: 'failed',
      error: { reason: 'model_failed', data: { status: 400 } },
    })
    const { result, got } = await runWith([refuse(503), saying('Done.')])
    expect([result.endReason, got.length]).toEqual(['completed', 2])
  })

  test('whose stream ends too soon: calls that are whole run (AGENT-3)', async () => {
    const whole = calling('I look.', calls.slice(0, 1))
    const { got, result } = await runWith([whole.slice(0, -1), saying('Done.')])
    expect(result.endReason).toBe('completed')
    expect(results(got[1] ?? { path: '', body: {} })).toHaveLength(1)
  })
})
