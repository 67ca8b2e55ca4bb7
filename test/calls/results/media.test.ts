import { createHash } from 'node:crypto'
import { defineTool, resultText, toolOutput, toWireResult, type ToolContext } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { images } from '../../support/images.ts'
import { openRuntime } from '../../support/project.ts'

const png = images['image/png']
const base64 = png.toString('base64')

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

async function call(run: (context: ToolContext) => unknown) {
  const tool = defineTool({
    name: 'demo.show',
    description: 'Shows something.',
    permission: 'readonly',
    run: (context) => run(context) as never,
  })
  const runtime = await openRuntime({
    tools: [tool],
    policy: { obligations: [{ id: 'base64', action: 'redact', patterns: ['[A-Za-z0-9+/]{20,}'] }] },
  })
  const result = await runtime.session().call('demo.show')
  return { runtime, result }
}

test('every image of a result has a summary: kind, type, size, dimensions and digest (OUT-5)', async () => {
  const { result, runtime } = await call(() =>
    toolOutput({
      content: Object.entries(images).map(([mimeType, bytes]) => ({
        type: 'image',
        data: bytes.toString('base64'),
        mimeType,
      })),
    }),
  )
  expect(result.metadata.media).toEqual(
    Object.entries(images).map(([mimeType, bytes]) => ({
      kind: 'image',
      mimeType,
      bytes: bytes.length,
      digest: sha256(bytes),
      width: 300,
      height: 200,
    })),
  )
  expect(toWireResult(result)).toMatchObject({
    metadata: { media: [{ mime_type: 'image/png', width: 300 }, {}, {}, {}, {}] },
  })
  const [end] = runtime.store.records({ kind: 'end' })
  expect(end?.body).toContain('"width":300')
  expect(verifyEvidence(runtime.store).ok).toBe(true)
})

test('images, sounds and films among the artifacts have one too (OUT-5)', async () => {
  const { result } = await call(async (context) => {
    const sound = new Uint8Array(1_000)
    return toolOutput({
      content: 'three',
      artifacts: [
        await context.artifact(png, { mimeType: 'image/png', name: 'a.png' }),
        await context.artifact(sound, { mimeType: 'audio/mpeg' }),
        await context.artifact('no media', { mimeType: 'text/plain' }),
        { digest: sha256(sound), bytes: 7, mimeType: 'video/mp4' },
        { digest: sha256(Buffer.from('nowhere')), bytes: 7, mimeType: 'image/gif' },
      ],
    })
  })
  expect(result.metadata.media).toEqual([
    { kind: 'image', mimeType: 'image/png', bytes: png.length, digest: sha256(png), width: 300, height: 200 },
    { kind: 'audio', mimeType: 'audio/mpeg', bytes: 1_000, digest: sha256(new Uint8Array(1_000)) },
    { kind: 'video', mimeType: 'video/mp4', bytes: 7, digest: sha256(new Uint8Array(1_000)) },
    {
      kind: 'image',
      mimeType: 'image/gif',
      bytes: 7,
      digest: sha256(Buffer.from('nowhere')),
      note: 'not in the artifacts',
    },
  ])
})

test.each([
  ['that lies about its type', 'image/jpeg', png, 'the bytes are no image/jpeg'],
  ['that is cut off', 'image/png', png.subarray(0, 18), 'the image/png is broken'],
  ['without bytes', 'image/png', Buffer.alloc(0), 'the bytes are no image/png'],
])(
  'an image %s has no dimensions and a note, and the call is well (OUT-5)',
  async (...[, mimeType, bytes, note]) => {
    const { result } = await call(() =>
      toolOutput({ content: [{ type: 'image', data: bytes.toString('base64'), mimeType }] }),
    )
    expect(result.ok).toBe(true)
    expect(result.metadata.media).toEqual([
      { kind: 'image', mimeType, bytes: bytes.length, digest: sha256(bytes), note },
    ])
  },
)

test('obligations look at texts, not into the bytes of an image (OUT-3, OUT-5)', async () => {
  const { result } = await call(() =>
    toolOutput({
      content: [
        { type: 'image', data: base64, mimeType: 'image/png' },
        { type: 'text', text: base64 },
      ],
    }),
  )
  expect(result.content[0]).toMatchObject({ data: base64 })
  expect(resultText(result)).toContain('[redacted]')
  expect(result.metadata.media?.[0]).toMatchObject({ width: 300 })
})

test('of hundreds of images five are shown, the others are artifacts, and long text beside them is still shortened (OUT-2, OUT-5)', async () => {
  const { result, runtime } = await call(() =>
    toolOutput({
      content: [
        { type: 'text', text: 'long text '.repeat(10_000) },
        ...Array.from({ length: 120 }, (_, n) => ({
          type: 'image' as const,
          data: Buffer.concat([png, Buffer.from([n])]).toString('base64'),
          mimeType: 'image/png',
        })),
      ],
    }),
  )
  expect(result.metadata.truncated?.bytes).toBe(100_000)
  expect(result.content.filter((block) => block.type === 'image')).toHaveLength(5)
  const others = result.artifacts.filter(({ mimeType }) => mimeType === 'image/png')
  expect(others).toHaveLength(50)
  expect(await runtime.artifacts.get(others[49]?.digest ?? '')).toHaveLength(png.length + 1)
  const more = result.artifacts.find(({ mimeType }) => mimeType === 'application/json')
  const rest = await runtime.artifacts.get(more?.digest ?? '')
  expect(JSON.parse(Buffer.from(rest ?? []).toString())).toHaveLength(65)
  expect(result.metadata.media).toHaveLength(50)
  expect(JSON.stringify(result.content).length).toBeLessThan(40_000 + 5 * base64.length)
})

test.each([
  ['of a type that models do not take', 'image/svg+xml', 5],
  ['of a type that models do not take', 'image/bmp', 5],
  ['of more than 10 MB', 'image/png', 10 * 1024 * 1024 + 1],
  ['that is not an image', 'text/html', 5],
])('an image %s is an artifact: %s (OUT-2, OUT-5)', async (_, mimeType, bytes) => {
  const tool = defineTool({
    name: 'demo.large',
    description: 'Shows something large.',
    permission: 'readonly',
    limits: { maxBytesOut: 20_000_000 },
    run: () =>
      toolOutput({ content: [{ type: 'image', data: Buffer.alloc(bytes).toString('base64'), mimeType }] }),
  })
  const runtime = await openRuntime({ tools: [tool], limits: { maxBytesOut: 20_000_000 } })
  const result = await runtime.session().call('demo.large')
  expect(result).toMatchObject({
    ok: true,
    content: [{ type: 'artifact_ref', note: expect.stringContaining('not shown') }],
    artifacts: [{ mimeType, bytes }],
  })
  expect(resultText(result)).toContain(`handrail://artifact/${result.callId}/sha256:`)
})

test('a result without media says nothing of them (OUT-5)', async () => {
  const { result } = await call(() => 'text')
  expect(result.metadata).not.toHaveProperty('media')
})
