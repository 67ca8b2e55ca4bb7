import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

test('the program of the page on tasks runs and prints what the page says (BI-3)', async () => {
  const place = makePlace()
  const page = findBlocks(readPage('docs/tasks.md')).find(({ language }) => language === 'js')?.code ?? ''
  const path = join(place.home, 'shop.db')
  const store = `store: { path: ${JSON.stringify(path)} }, project: ${JSON.stringify(place.project)}`
  const code = page.replace("store: { path: 'shop.db' }", store)
  expect(code).not.toBe(page)
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  const said = [...page.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, each = '']) => each)
  expect([exit, stderr, stdout.trim().split(/\s+/)]).toEqual([0, '', said.join(' ').split(' ')])
  expect(said).toHaveLength(2)
})
