import { expect, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { readPage } from '../support/markdown.ts'
import { readSteps, toPattern, Walk } from '../support/run-guide.ts'

test('the first screen of the README runs twice in one folder, and prints what it shows', async () => {
  const [screen = ''] = readPage('README.md').split(/^## /m)
  const steps = readSteps(screen)
  const walk = new Walk(makePlace())
  for (const step of [...steps, ...steps]) {
    const { printed, unexpected } = await walk.take(step)
    expect(unexpected).toEqual([])
    if (step.shown !== undefined) expect(printed).toMatch(toPattern(step.shown))
  }
  expect(steps.filter(({ shown }) => shown !== undefined)).toHaveLength(2)
})
