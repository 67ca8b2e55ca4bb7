import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
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

test('the file of the page is a composition (NEXT-1)', async () => {
  const [block] = findBlocks(readPage('docs/composition.md')).filter(({ language }) => language === 'json')
  const place = makePlace()
  mkdirSync(join(place.home, 'tools'), { recursive: true })
  writeFileSync(join(place.home, 'tools', 'copy.json'), block?.code ?? '')
  const { code, stdout } = await handrail(place, ['tools', 'check'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('notes.copy, write, no issue')])
})
