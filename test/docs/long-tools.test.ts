import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the long tool of the page runs, and prints what the page says (NEXT-2)', async () => {
  const [block] = findBlocks(readPage('docs/long-tools.md')).filter(({ language }) => language === 'ts')
  const place = makePlace()
  const code = (block?.code ?? '').replace("project: '.'", `project: ${JSON.stringify(place.project)}`)
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  const lines = stdout.replaceAll(/job_\w+/g, 'job_…').split('\n')
  expect([exit, stderr, lines]).toEqual([
    0,
    '',
    [
      "{ job: 'job_…', status: 'running' }",
      'step 1',
      'step 2',
      '{"log":"built main"}',
      '',
      "{ log: 'built next' }",
      '',
    ],
  ])
})
