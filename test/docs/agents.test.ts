import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, onBundle, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page on agents runs, and prints what the page says (AGENT-3)', async () => {
  const blocks = findBlocks(readPage('docs/agents.md'))
  const find = (language: string) => blocks.find((block) => block.language === language)?.code ?? ''
  const place = makePlace()
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', find('ts')])
  running.child.stdin.end()
  const { code, stdout, stderr } = await running.ended
  expect([code, stderr, stdout]).toEqual([0, '', find('text')])
  expect(readFileSync(join(place.project, 'note.txt'), 'utf8')).toBe('Water the plants.')
})
