import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the composition of the page runs, and asks as the page says (NEXT-1)', async () => {
  const [block] = findBlocks(readPage('docs/composition.md')).filter(({ language }) => language === 'ts')
  const place = makePlace()
  const code = (block?.code ?? '').replace("project: '.'", `project: ${JSON.stringify(place.project)}`)
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr, stdout.split('\n')]).toEqual([
    0,
    '',
    [
      'docs.publish docs.publish: 2 parts',
      'docs.upload Upload a page',
      "{ url: 'https://docs.example/11' }",
      '',
    ],
  ])
})
