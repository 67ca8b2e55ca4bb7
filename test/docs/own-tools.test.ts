import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the tool of the page runs and prints what the page says (DEF-1)', async () => {
  const [block] = findBlocks(readPage('docs/own-tools.md')).filter(({ language }) => language === 'ts')
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
      'Add a line to todo.txt',
      'first { lines: 1 } false',
      'again { lines: 1 } true',
      'Add a line to todo.txt',
      '{ lines: 2 }',
      'write_outside_allowed_roots',
      '',
    ],
  ])
  expect(readFileSync(join(place.project, 'todo.txt'), 'utf8')).toBe('water the plants\nfeed the cat\n')
})

test('tools of the AI SDK are taken over as the page shows (SDK-1)', async () => {
  const [, block] = findBlocks(readPage('docs/own-tools.md')).filter(({ language }) => language === 'ts')
  const place = makePlace()
  const code = (block?.code ?? '').replace("project: '.'", `project: ${JSON.stringify(place.project)}`)
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr, stdout]).toEqual([0, '', "{ city: 'Bern', warm: true }\ndenied\n"])
})
