import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

const examples = {
  'The AI SDK': {
    folder: 'ai-sdk',
    prints: [
      "asked: shop__refund { order: '12' }",
      'answered: allowed',
      expect.stringMatching(/^model: .*\{\\"refunded\\":\\"12\\"\}/),
    ],
  },
  'OpenAI agents': {
    folder: 'openai-agents',
    prints: [
      'asked: refund with this input',
      'answered: allowed',
      expect.stringMatching(/^model: .*\{\\"refunded\\":\\"12\\"\}/),
    ],
  },
  'LangChain and LangGraph': {
    folder: 'langchain',
    prints: [
      'asked: refund with this input',
      'model: {"order":"12","state":"paid"}',
      'model: {"refunded":"12"}',
    ],
  },
  Mastra: {
    folder: 'mastra',
    prints: ['asked: refund with this input', expect.stringMatching(/^model: .*\{\\"refunded\\":\\"12\\"\}/)],
  },
  'The Claude Agent SDK': {
    folder: 'claude-agent',
    prints: ['asked: refund with this input', expect.stringMatching(/^model: .*refunded.*12/)],
  },
} as const

/** SDKs that are too large to be installed for tests are stood in for by their form. */
const standIns = `--import=${pathToFileURL(join(packageRoot, 'test', 'support', 'stand-ins', 'use-stand-ins.ts')).href}`

const blocks = findBlocks(readPage('docs/agent-sdks.md'))
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim())

describe.each(Object.entries(examples))('%s', (heading, { folder, prints }) => {
  const path = join(packageRoot, 'examples', folder, 'main.ts')

  test('the lines of the page are in the example', () => {
    const known = lines(readFileSync(path, 'utf8'))
    const shown = blocks.filter((block) => block.heading === heading)
    expect(shown.length).toBeGreaterThan(0)
    for (const { code } of shown) for (const line of lines(code)) expect(known).toContain(line)
  })

  test('the example prints what its comments say', async () => {
    const place = makePlace()
    const { child, ended } = startProgram(place, [onBundle, standIns, path, join(place.user, 'shop.db')])
    child.stdin.end()
    const { code, stdout, stderr } = await ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trimEnd().split('\n')).toEqual(prints)
  })
})
