import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page on questions runs and prints what the page says (MCP-1)', async () => {
  const code =
    findBlocks(readPage('docs/elicitation.md')).find(({ language }) => language === 'ts')?.code ?? ''
  const running = startProgram(makePlace(), [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr, stdout]).toEqual([
    0,
    '',
    'tool "travel.book" form\n{ seat: \'aisle\', meal: true }\n',
  ])
})
