import { expect, test } from 'vitest'
import { readArtifactUri, toArtifactUri } from './artifact-uri.ts'

const artifact = { call: 'call_01abc-x', digest: `sha256:${'0a'.repeat(32)}` }

test('a URI of an artifact, or of a part of it, reads back as what it was made from', () => {
  expect(readArtifactUri(toArtifactUri(artifact))).toEqual(artifact)
  const part = { offset: 0, length: 4_194_304 }
  expect(readArtifactUri(toArtifactUri(artifact, part))).toEqual({ ...artifact, part })
})

test.each([
  '',
  'handrail://artifact/',
  `handrail://artifact/${artifact.digest}`,
  `handrail://artifact/../${artifact.digest}`,
  `handrail://artifact/call/${artifact.digest}/more`,
  `handrail://artifact/call/${artifact.digest}?offset=-1&length=2`,
  `handrail://artifact/call/${artifact.digest}?length=2`,
  `handrail://artifact/call/${artifact.digest}?offset=0&length=0`,
  `handrail://artifact/call/${artifact.digest}?offset=0&length=00`,
  `handrail://artifact/call/sha256:${'Z'.repeat(64)}`,
  `https://artifact/call/${artifact.digest}`,
])('%j is no such URI', (uri) => {
  expect(readArtifactUri(uri)).toBeUndefined()
})
