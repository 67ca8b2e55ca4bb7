import { expect, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import { listPages, readPage } from '../support/markdown.ts'
import { readSteps, toPattern, Walk } from '../support/run-guide.ts'

const guides = listPages().filter((page) => page.startsWith('docs/guides/'))

test('there is a guide for each of the ten walks', () => {
  expect(guides).toHaveLength(10)
})

test.each(guides)('%s runs from its first line to its last, and prints what it shows', async (page) => {
  const steps = readSteps(readPage(page))
  const walk = new Walk(makePlace())
  expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThan(0)
  for (const step of steps) {
    const { printed, unexpected } = await walk.take(step)
    expect(unexpected).toEqual([])
    if (step.shown !== undefined) expect(`${printed.trimEnd()}\n`).toMatch(toPattern(step.shown))
  }
})

test.each(guides)('%s is short, and links to the reference', (page) => {
  const text = readPage(page)
  expect(text.split('\n').length).toBeLessThanOrEqual(145)
  expect(text).toMatch(/\]\(\.\.\/[\w-]+\.md/)
})

test('the entry that a guide has for an MCP client is the command that the guide runs', () => {
  const steps = readSteps(readPage('docs/guides/mcp-servers.md'))
  const entry = steps.find(({ language, code }) => language === 'json' && code.includes('"handrail": {'))
  const { mcpServers } = JSON.parse(entry?.code ?? '{}') as {
    mcpServers: { handrail: { command: string; args: string[] } }
  }
  const { command, args } = mcpServers.handrail
  const lines = steps.filter(({ language }) => language === 'sh').map(({ code }) => code)
  expect(lines.join('\n')).toContain([command, ...args].join(' '))
})
