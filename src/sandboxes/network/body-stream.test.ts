import { expect, test } from 'vitest'
import { createBodyStream } from './body-stream.ts'

test('a body that nobody reads makes its server wait, and goes on when it is read', async () => {
  const told: string[] = []
  const flow = {
    pause: () => void told.push('pause'),
    resume: () => void told.push('resume'),
    abort: (reason: Error) => void told.push(reason.message),
  }
  const body = createBodyStream(flow, { isEvents: false })
  const reader = body.stream.getReader()
  const piece = new Uint8Array(60 * 1024)
  body.push(piece)
  expect(told).toEqual([])
  body.push(piece)
  expect(told).toEqual(['pause'])
  await reader.read()
  await reader.read()
  expect(told.at(-1)).toBe('resume')
  await reader.cancel('enough')
  expect(told.at(-1)).toBe('It is not wanted any more.')
  body.push(piece)
  body.end()
  expect((await reader.read()).done).toBe(true)
})
