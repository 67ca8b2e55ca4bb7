import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { defineTool, resultText, toolOutput, toWireResult } from 'handrail'
import { aiSdk } from 'handrail/ai-sdk'
import { openaiResponses } from 'handrail/openai'
import { codeModeTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { createClient } from '../mcp/connect.ts'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { toolFile, writeTools } from '../support/declared-tools.ts'
import { images } from '../support/images.ts'
import { modelSaying } from '../support/mock-model.ts'
import { openRuntime } from '../support/project.ts'
import { toServer } from '../support/serve-stdio.ts'

const png = images['image/png']
const sound = Buffer.alloc(100, 7)
const pdf = Buffer.from('%PDF-1.4')
const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const ofPng = { bytes: png.length, digest: sha256(png), width: 300, height: 200 }
const ofSound = { bytes: sound.length, digest: sha256(sound) }
const ofPdf = { bytes: pdf.length, digest: sha256(pdf) }
const base64 = (bytes: Buffer): string => bytes.toString('base64')

const show = defineTool({
  name: 'see.all',
  description: 'Shows an image, a sound, a document and a picture that is a resource.',
  permission: 'readonly',
  run: () =>
    toolOutput({
      content: [
        { type: 'text', text: 'All:' },
        { type: 'image', data: base64(png), mimeType: 'image/png' },
        { type: 'audio', data: base64(sound), mimeType: 'audio/wav' },
        { type: 'resource', uri: 'far://paper', mimeType: 'application/pdf', blob: base64(pdf) },
        { type: 'resource', uri: 'far://picture', mimeType: 'image/png', blob: base64(png) },
        { type: 'resource', uri: 'far://text', mimeType: 'text/plain', text: 'no media' },
      ],
    }),
})
const open = () => openRuntime({ tools: [show, codeModeTools()], store: 'memory' })
const summaries = [
  { kind: 'image', mimeType: 'image/png', ...ofPng },
  { kind: 'audio', mimeType: 'audio/wav', ...ofSound },
  { kind: 'file', mimeType: 'application/pdf', ...ofPdf },
  { kind: 'image', mimeType: 'image/png', ...ofPng },
]

test('binary resources are summarised as images and sounds are, for programs, in words and in evidence (OUT-5)', async () => {
  const runtime = await open()
  const result = await runtime.session().call('see.all')
  expect(result.metadata.media).toEqual(summaries)
  expect(toWireResult(result)).toMatchObject({
    metadata: { media: [{}, {}, { kind: 'file' }, { width: 300 }] },
  })
  expect(resultText(result).split('\n')).toEqual([
    'All:',
    `[image image/png, 300×200 pixels, ${png.length} bytes, ${sha256(png)}]`,
    `[audio audio/wav, 100 bytes, ${sha256(sound)}]`,
    `[resource far://paper: application/pdf, 8 bytes, ${sha256(pdf)}]`,
    `[resource far://picture: image/png, 300×200 pixels, ${png.length} bytes, ${sha256(png)}]`,
    'no media',
  ])
  const [end] = runtime.store.records({ kind: 'end' })
  expect(end?.body).toContain(sha256(pdf))
})

test('a door says of what its API does not take what it is (OUT-5)', async () => {
  const door = openaiResponses((await open()).session())
  const call = { type: 'function_call', call_id: 'a', name: 'see__all', arguments: '{}' }
  const { messages } = await door.results({ output: [call] } as never)
  expect(JSON.stringify(messages)).toContain(`[audio audio/wav, 100 bytes, ${sha256(sound)}]`)
})

test('the media of a door for agent SDKs have their summary (OUT-5)', async () => {
  const { tools } = aiSdk((await open()).session())
  const outputs = tools['see__all']?.execute?.({}, { toolCallId: 'a', messages: [] } as never)
  let output: unknown
  for await (const each of outputs as AsyncIterable<unknown>) output = each
  expect(output).toMatchObject({
    media: [
      { kind: 'image', data: base64(png), ...ofPng },
      { kind: 'audio', ...ofSound },
      { kind: 'file', mimeType: 'application/pdf', ...ofPdf },
      { kind: 'file', mimeType: 'image/png', ...ofPng },
    ],
  })
})

test('in a run the model gets the image, and who follows the run its summary (OUT-5)', async () => {
  const runtime = await open()
  const { model } = modelSaying([{ calls: [{ tool: 'see__all', input: {} }] }, { text: 'Done.' }])
  const run = await runtime.run({ model, prompt: 'Look.' })
  const events: unknown[] = []
  for await (const event of run) events.push(event)
  expect(JSON.stringify(events)).toContain(sha256(pdf))
})

test('a program gets each of the media with its summary (OUT-5)', async () => {
  const code = 'return (await tools.see__all()).map(({ width, height, digest }) => [width, height, digest])'
  const { data } = await (await open()).session().call('code_mode.run', { code })
  expect(data).toMatchObject({
    returned: [
      [null, null, null],
      [300, 200, sha256(png)],
      [null, null, sha256(sound)],
      [null, null, sha256(pdf)],
      [300, 200, sha256(png)],
      [null, null, null],
    ],
  })
})

test('at the command line and over MCP the image of a declared tool has its summary (OUT-5)', async () => {
  const place = makePlace()
  const content = [{ type: 'image', data: base64(png), mime_type: 'image/png' }]
  writeTools(join(place.home, 'tools'), {
    'show.json': toolFile({
      name: 'see.declared',
      permission: 'readonly',
      command: 'echo',
      args: [JSON.stringify({ content })],
      output: 'result',
    }),
  })
  const said = await handrail(place, ['call', 'see.declared'])
  expect(said.stdout).toBe(`[image image/png, 300×200 pixels, ${png.length} bytes, ${sha256(png)}]\n`)
  const wire = { kind: 'image', mime_type: 'image/png', ...ofPng }
  expect(jsonOf(await handrail(place, ['call', 'see.declared', '--json']))).toMatchObject({
    metadata: { media: [wire] },
  })
  const client = createClient({ era: 'modern' })
  await client.connect(toServer(place))
  const result = await client.callTool({ name: 'see__declared', arguments: {} })
  expect(JSON.stringify(result._meta)).toContain(`"digest":"${sha256(png)}","width":300,"height":200`)
  expect(result.content).toMatchObject([{ type: 'image' }])
  await client.close()
})
