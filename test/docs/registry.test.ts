import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page runs and prints what the page says (REG-7)', async () => {
  const [block] = findBlocks(readPage('docs/registry.md')).filter(({ language }) => language === 'ts')
  const code = block?.code ?? ''
  const running = startProgram(makePlace(), [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr]).toEqual([0, ''])
  const said = [...code.matchAll(/console\.log\(.*\n?\/\/ (.+)$|console\.log\(.*\) \/\/ (.+)$/gm)]
  expect(said.length).toBe(4)
  expect(stdout.trimEnd().split('\n')).toEqual(said.map(([, below, beside]) => below ?? beside))
})
