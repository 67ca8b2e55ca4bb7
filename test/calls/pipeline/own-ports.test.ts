import { createRuntime, defineTool, toolOutput } from 'handrail'
import type { SandboxPlace } from 'handrail/sandbox'
import { expect, test } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { CountingStore, MapArtifacts, makeFeed, openMemorySandbox } from '../../support/own-ports.ts'
import { openRuntime } from '../../support/project.ts'

test('a program brings a sandbox, a store, artifacts and a feed of its own', async () => {
  const files = new Map<string, string>()
  const artifacts = new MapArtifacts()
  const { store: inner } = await createRuntime()
  const store = new CountingStore(inner)
  const places: SandboxPlace[] = []
  const note = defineTool({
    name: 'demo.note',
    description: 'Keeps a note.',
    permission: 'readonly',
    sideEffect: 'read',
    capabilities: { fs: { read: ['project'] } },
    needs: ['files'],
    async run({ files: own, artifact }) {
      const { bytes } = await own.read('note.txt')
      return toolOutput({
        data: Buffer.from(bytes).toString(),
        artifacts: [await artifact(bytes, { mimeType: 'text/plain' })],
      })
    },
  })
  const runtime = await openRuntime({
    tools: [note],
    feeds: [makeFeed()],
    artifacts,
    store,
    sandbox: (place) => {
      places.push(place)
      files.set(`${place.project}/note.txt`, 'in memory')
      return openMemorySandbox(place, files)
    },
  })
  const session = runtime.session()
  const read = await session.call('demo.note')
  expect([read.data, read.metadata.sandbox]).toEqual(['in memory', undefined])
  expect([...artifacts.kept.keys()]).toEqual(read.artifacts.map(({ digest }) => digest))
  expect((await session.call('own.hello')).data).toBe('hello')
  expect(runtime.sandbox).toBe(`files in memory, of ${runtime.project}`)
  expect(places.map(({ project }) => project)).toEqual([runtime.project])
  expect(store.appended).toBeGreaterThanOrEqual(4)
  await runtime.close()
  expect(files.size).toBe(0)
})

test('another sandbox is another policy to the evidence', async () => {
  const own = await openRuntime({ sandbox: (place) => openMemorySandbox(place, new Map()) })
  const usual = await openRuntime({ project: own.project, sandbox: 'host' })
  atEnd(() => usual.close())
  expect(own.policyDigest).not.toBe(usual.policyDigest)
})
