import {
  artifactTools,
  codeTools,
  createRuntime,
  defineTool,
  jobTools,
  resultText,
  type RuntimeOptions,
} from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

const limit = 100_001
const base: RuntimeOptions = {
  sandbox: 'host',
  limits: { artifactBytes: limit },
  approve: async () => ({ decision: 'allow_once' }),
}
/** Prints three times as much as a call may leave, in characters of two bytes. */
const flood = (stream: string) => `process.${stream}.write('é'.repeat(150_000) + 'the end')`
const argv = (...parts: string[]) => [process.execPath, '-e', parts.join(';')]

test.each(['memory', 'disk'] as const)(
  'of a command that prints more than a call may leave, the rest is not kept, and the result says so (%s) (OUT-2, FILE-7)',
  async (kind) => {
    const home = makeFolder()
    const runtime = await openRuntime({
      ...base,
      home,
      ...(kind === 'memory' && { store: 'memory' }),
      tools: [codeTools()],
    })
    const session = runtime.session()
    const result = await session.call('code.run_command', { argv: argv(flood('stdout'), flood('stderr')) })
    expect(result).toMatchObject({ ok: true, data: { exit_code: 0 } })
    const printed = result.artifacts.filter(({ name }) => name !== undefined)
    expect(printed.map(({ name, truncated }) => [name, truncated])).toEqual([
      ['stdout.txt', true],
      ['stderr.txt', true],
    ])
    const kept = printed.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(kept).toBeGreaterThan(limit - 3)
    expect(kept).toBeLessThanOrEqual(limit)
    const text = resultText(result)
    expect(text).toContain('what came later was not kept')
    expect(text).toContain('the end')
  },
)

test('what fits is whole, and says so (OUT-2)', async () => {
  const runtime = await openRuntime({ ...base, limits: { artifactBytes: 400_000 }, tools: [codeTools()] })
  const result = await runtime.session().call('code.run_command', { argv: argv(flood('stdout')) })
  expect(result.artifacts).toMatchObject([{ bytes: 300_007 }])
  expect(result.artifacts[0]).not.toHaveProperty('truncated')
  expect(resultText(result)).toContain('the whole output')
})

test('a job has as much room, and says what was not kept; each part reads as text (FILE-7)', async () => {
  const runtime = await openRuntime({
    ...base,
    limits: { artifactBytes: 300_001 },
    tools: [artifactTools(), codeTools(), jobTools()],
  })
  const session = runtime.session()
  const script = `process.stdout.write(('é'.repeat(49) + '\\n').repeat(4_000) + 'the end')`
  const begun = await session.call('code.run_command', { argv: argv(script), background: true })
  const { job: id } = begun.data as { job: string }
  const over = await session.call('job.output', { id, wait_ms: 60_000 })
  expect(over.artifacts).toMatchObject([{ truncated: true }])
  expect(resultText(over)).toContain('what came later was not kept')
  const { digest, bytes } = over.artifacts[0] ?? { digest: '', bytes: 0 }
  expect(bytes).toBeGreaterThan(300_001 - 2)
  const uri = `handrail://artifact/${over.callId}/${digest}`
  const last = await session.call('artifact.read', { uri, offset: bytes - 99 })
  expect(resultText(last)).toMatch(/^é+\n?é*/)
})

test('what a tool hands in counts together, and is refused once it is too much (OUT-2)', async () => {
  const tool = defineTool({
    name: 'demo.hand',
    description: 'Hands in.',
    permission: 'readonly',
    rawInput: { type: 'object' },
    async run(_input, context) {
      const about = { mimeType: 'application/octet-stream' }
      const first = await context.artifact(new Uint8Array(60_000), about)
      await context.artifact(new Uint8Array(40_002), about).catch((error: unknown) => {
        refused.push(String(error))
      })
      await context.artifact('a'.repeat(40_001), { mimeType: 'text/plain' })
      await context.artifact('b', { mimeType: 'text/plain' })
      return first.bytes
    },
  })
  const refused: string[] = []
  const session = (await openRuntime({ ...base, tools: [tool] })).session()
  for (let round = 0; round < 2; round++)
    expect(await session.call('demo.hand')).toMatchObject({
      error: {
        reason: 'output_too_large',
        message: expect.stringMatching(/^An artifact of 1 bytes was not kept: .* 0 left\..*artifactBytes/),
      },
    })
  expect(refused).toHaveLength(2)
})

test('the limit of a project may be lower than that of the configuration, never higher (OUT-2)', async () => {
  const open = async (artifactBytes: number) => {
    const runtime = await createRuntime({
      ...base,
      home: makeFolder(),
      project: makeFolder(),
      projectConfiguration: { limits: { artifactBytes } },
      tools: [codeTools()],
    })
    atEnd(() => runtime.close())
    const result = await runtime.session().call('code.run_command', { argv: argv(flood('stdout')) })
    return result.artifacts[0]?.bytes
  }
  expect(await open(80_000)).toBe(80_000)
  expect(await open(10_000_000)).toBe(limit - 1)
})
