import { expect, test } from 'vitest'
import { followProgress, type ProgressUpdate } from './follow-progress.ts'

const shown = {
  showProgress: ({ message }: ProgressUpdate) => `progress ${message}`,
  showEnd: (end: string) => `end ${end}`,
}

test('an update that is not taken in time is replaced by the next one, and the end comes last', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  let report: ((update: ProgressUpdate) => void) | undefined
  const following = followProgress({ ...shown, run: (onProgress) => ((report = onProgress), promise) })[
    Symbol.asyncIterator
  ]()
  const first = following.next()
  report?.({ message: 'one' })
  report?.({ message: 'two' })
  report?.({ message: 'three' })
  resolve('done')
  expect(await first).toEqual({ done: false, value: 'progress one' })
  expect(await following.next()).toEqual({ done: false, value: 'progress three' })
  expect(await following.next()).toEqual({ done: false, value: 'end done' })
  expect(await following.next()).toEqual({ done: true, value: undefined })
})

test('a call that fails rejects the one who waits, once, and nothing follows', async () => {
  const failing = [
    () => Promise.reject(new Error('lost')),
    (): Promise<string> => {
      throw new Error('lost')
    },
  ]
  for (const run of failing) {
    const following = followProgress({ ...shown, run })[Symbol.asyncIterator]()
    await expect(following.next()).rejects.toThrow('lost')
    expect(await following.next()).toEqual({ done: true, value: undefined })
  }
})

test('what cannot be shown rejects the one who waits', async () => {
  const run = (onProgress: (update: ProgressUpdate) => void): Promise<string> => {
    onProgress({ message: 'odd' })
    return Promise.resolve('done')
  }
  const showProgress = (): never => {
    throw new Error('odd')
  }
  const following = followProgress<string, string>({ ...shown, showProgress, run })[Symbol.asyncIterator]()
  await expect(following.next()).rejects.toThrow('odd')
  expect(await following.next()).toEqual({ done: false, value: 'end done' })
})
