import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page on code mode runs and prints what the page says (NEXT-5)', async () => {
  const page = findBlocks(readPage('docs/code-mode.md')).find(({ language }) => language === 'ts')?.code ?? ''
  const running = startProgram(makePlace(), [onBundle, '--input-type=module-typescript', '--eval', page], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code, stdout, stderr } = await running.ended
  const said = [...page.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, each]) => each)
  expect([code, stderr, stdout.trimEnd().split('\n')]).toEqual([0, '', said])
  expect(said).toHaveLength(1)
})
