import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { readPage } from '../support/markdown.ts'
import { readSteps, toPattern, Walk } from '../support/run-guide.ts'

const steps = readSteps(readPage('docs/agent-hooks.md'))

test('every command of docs/agent-hooks.md runs, and prints what the page shows', async () => {
  const walk = new Walk(makePlace({ 'README.md': '# Hello\n' }))
  for (const step of steps) {
    const { printed, unexpected } = await walk.take(step)
    expect(unexpected).toEqual([])
    if (step.shown !== undefined) expect(`${printed.trimEnd()}\n`).toMatch(toPattern(step.shown))
  }
})

test('the policy of docs/agent-hooks.md is one', async () => {
  const policy = steps.find(({ language }) => language === 'json')?.code ?? ''
  const place = makePlace({}, { 'policy.json': policy })
  expect(await handrail(place, ['policy', 'check'])).toMatchObject({ code: 0 })
})
