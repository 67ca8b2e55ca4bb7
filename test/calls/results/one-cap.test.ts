import {
  artifactTools,
  defineTool,
  resultText,
  ToolFailure,
  toolOutput,
  toWireResult,
  type ContentBlock,
  type ToolReturn,
  type ToolResult,
} from 'handrail'
import { expect, test } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'

const inlineBytes = 8_000
const long = (name: string, bytes: number): string => `${name} starts ${'x'.repeat(bytes)} ${name} ends`
const large = long('it', 400_000)
const digest = `sha256:${'0'.repeat(64)}`
const fail = (failure: ConstructorParameters<typeof ToolFailure>[0]) => () => {
  throw new ToolFailure(failure)
}

/** What tools give that does not fit, and one word of each piece that a model must still see. */
const outputs: Readonly<Record<string, { run: () => ToolReturn; shown: readonly string[] }>> = {
  text: { run: () => large, shown: ['it starts', 'it ends'] },
  blocks: {
    run: () => toolOutput({ content: texts(5, 100_000) }),
    shown: [0, 1, 2, 3, 4].flatMap((n) => [`part ${n} starts`, `part ${n} ends`]),
  },
  'many blocks': {
    run: () => toolOutput({ content: texts(200, 30_000) }),
    shown: ['part 0 starts', 'part 199 ends', 'parts left out here'],
  },
  'tiny blocks': {
    run: () => toolOutput({ content: texts(20_000, 1) }),
    shown: ['part 0 starts', 'part 19999 ends', 'parts left out here'],
  },
  json: { run: () => ({ text: large }), shown: ['it starts', 'it ends'] },
  'a resource': {
    run: () =>
      toolOutput({ content: [{ type: 'resource', uri: 'a:b', mimeType: 'text/plain', text: large }] }),
    shown: ['it starts', 'it ends'],
  },
  'a binary resource': {
    run: () => toolOutput({ content: [{ type: 'resource', uri: 'a:b', blob: 'aGkh'.repeat(100_000) }] }),
    shown: ['a:b'],
  },
  'an unknown block': {
    run: () => toolOutput({ content: [{ type: 'other', block: { kind: large } }] }),
    shown: ['it starts', 'it ends'],
  },
  'what stands aside': {
    run: () => toolOutput({ content: [{ type: 'text', text: 'short', aside: { annotations: large } }] }),
    shown: ['short'],
  },
  'beside a reference': {
    run: () =>
      toolOutput({
        content: [
          { type: 'text', text: large },
          {
            type: 'artifact_ref',
            artifact: { digest, bytes: 1, mimeType: 'text/plain', name: 'x'.repeat(100_000) },
          },
        ],
      }),
    shown: ['it starts', 'it ends'],
  },
  summary: { run: () => toolOutput({ content: 'short', summary: large }), shown: ['short'] },
  metadata: {
    run: () => toolOutput({ content: 'short', metadata: { deep: { large, small: 1 } } }),
    shown: ['short'],
  },
  'an error': {
    run: fail({
      reason: 'own',
      message: large,
      data: { code: 7, large },
      issues: [{ pointer: '/a', code: 'b', message: large }],
    }),
    shown: ['TOOL.FAILED (own): it starts', 'it ends'],
  },
  'an error beside content': {
    run: () => toolOutput({ content: texts(2, 100_000), error: { reason: 'own', message: large } }),
    shown: ['it starts', 'it ends', 'part 0 starts', 'part 1 ends'],
  },
  data: {
    run: () => toolOutput({ content: 'short', data: Array.from({ length: 100_000 }, (_, n) => n) }),
    shown: ['short', 'is left out; the whole is in'],
  },
}

function texts(count: number, bytes: number): ContentBlock[] {
  return Array.from({ length: count }, (_, n) => ({ type: 'text', text: long(`part ${n}`, bytes) }))
}

const give = defineTool({
  name: 'demo.give',
  description: 'Gives what it is told to.',
  permission: 'readonly',
  input: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
  run: ({ what }) => outputs[what]?.run(),
})

async function callWith(what: string) {
  const runtime = await openRuntime({ tools: [give, artifactTools()], limits: { inlineBytes } })
  const session = runtime.session()
  return { runtime, session, result: await session.call('demo.give', { what }) }
}

test.each(Object.entries(outputs))(
  'the whole of a result has one cap, and what does not fit is an artifact that can be read: %s (OUT-2, DEF-5)',
  async (what, { shown }) => {
    const { runtime, session, result } = await callWith(what)
    const text = resultText(result)
    for (const piece of shown) expect(text).toContain(piece)
    // The message of an error stands in the content too, and each artifact once in the list of them.
    expect(JSON.stringify(withoutLists(result)).length).toBeLessThan(2.5 * inlineBytes)
    expect(JSON.stringify(toWireResult(result)).length).toBeLessThan(8 * inlineBytes)
    const [end] = runtime.store.records({ kind: 'end', call: result.callId })
    expect(end?.body?.length).toBeLessThan(4 * inlineBytes)
    const kept = result.artifacts.filter((artifact) => artifact.digest !== digest)
    expect(kept.length).toBeGreaterThan(0)
    const uris = JSON.stringify(result).matchAll(/handrail:\/\/artifact\/\w+\/sha256:[0-9a-f]{64}/g)
    for (const [uri] of uris) expect((await session.call('artifact.read', { uri, length: 10 })).ok).toBe(true)
  },
)

function withoutLists({ artifacts: _artifacts, ...result }: ToolResult): object {
  return { ...result, metadata: { ...result.metadata, media: undefined } }
}

test('small parts are shown whole, and the others share what is left (OUT-2)', async () => {
  const tool = defineTool({
    name: 'demo.mixed',
    description: 'Gives short and long parts.',
    permission: 'readonly',
    run: () => toolOutput({ content: [...texts(1, 50_000), ...texts(3, 500), ...texts(1, 20_000)] }),
  })
  const runtime = await openRuntime({ tools: [tool], limits: { inlineBytes } })
  const { content, metadata, artifacts } = await runtime.session().call('demo.mixed')
  const shown = content.flatMap((block) => (block.type === 'text' ? block.text : []))
  expect(shown.slice(1, 4)).toEqual(texts(3, 500).map((block) => (block.type === 'text' ? block.text : '')))
  const [first = '', last = ''] = [shown[0], shown[4]]
  expect(Math.abs(first.length - last.length)).toBeLessThan(20)
  expect(first.length).toBeGreaterThan(2_500)
  expect(artifacts).toHaveLength(2)
  expect(metadata.truncated?.bytes).toBe(70_000 + 2 * ('part 0 starts '.length + ' part 0 ends'.length))
})

test('whose whole an artifact is already gets no second one (OUT-2)', async () => {
  const tool = defineTool({
    name: 'demo.log',
    description: 'Gives the ends of a log, and the log.',
    permission: 'readonly',
    async run(context) {
      const artifact = await context.artifact(large, { mimeType: 'text/plain' })
      return toolOutput({
        content: [
          { type: 'text', text: large.slice(0, 100_000) },
          { type: 'artifact_ref', artifact, note: 'the whole output' },
        ],
        artifacts: [artifact],
      })
    },
  })
  const runtime = await openRuntime({ tools: [tool], limits: { inlineBytes } })
  const result = await runtime.session().call('demo.log')
  expect(result.artifacts).toHaveLength(1)
  expect(resultText(result)).toContain(
    `the whole is in handrail://artifact/${result.callId}/${result.artifacts[0]?.digest}`,
  )
})

test('what a program wants of data that is too large, it finds where the result says (OUT-2, CALL-4)', async () => {
  const tool = defineTool({
    name: 'demo.rows',
    description: 'Gives rows.',
    permission: 'readonly',
    idempotency: 'keyed',
    keyFrom: 'call',
    output: { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] },
    run: () => ({ rows: Array.from({ length: 50_000 }, (_, n) => `row ${n}`) }),
  })
  const runtime = await openRuntime({ tools: [tool], approve: personSaying('allow_once').approve })
  const session = runtime.session()
  for (const replayed of [undefined, true]) {
    const result = await session.call('demo.rows', {}, { idempotencyKey: 'a' })
    expect([result.ok, result.data, result.metadata.replayed]).toEqual([true, undefined, replayed])
    const bytes = await runtime.artifacts.get(result.metadata.dataArtifact?.digest ?? '')
    const { rows } = JSON.parse(Buffer.from(bytes ?? []).toString()) as { rows: string[] }
    expect(rows).toHaveLength(50_000)
  }
})

test('an error before the tool runs is bounded too (OUT-2)', async () => {
  const tool = defineTool({
    name: 'demo.plan',
    description: 'Cannot be planned.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    plan: fail({ reason: 'own', message: large, data: { large } }),
    run: () => 'never',
  })
  const runtime = await openRuntime({ tools: [tool], limits: { inlineBytes } })
  const result = await runtime.session().call('demo.plan', {})
  expect(result.error?.reason).toBe('own')
  expect(JSON.stringify(result).length).toBeLessThan(4 * inlineBytes)
  expect(resultText(result)).toMatch(/it starts[^]*left out here[^]*it ends/)
})
