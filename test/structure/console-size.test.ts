import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { makeFolder } from '../support/project.ts'

test('the inbox needs 60 kB of compressed JavaScript at most, so that it opens at once on a phone, and all pages 180 kB', async () => {
  const folder = makeFolder()
  await bundleConsole(folder)
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const sizeOf = (name: string): number => gzipSync(readFileSync(join(folder, name))).length
  const console = readFileSync(join(folder, 'console.js'), 'utf8')
  // What it names outside of "import(…)" is loaded with it.
  const first = scripts.filter((name) => name === 'console.js' || console.includes(`from"./${name}"`))
  expect(first.map(sizeOf).reduce((one, other) => one + other)).toBeLessThan(60_000)
  expect(scripts.map(sizeOf).reduce((one, other) => one + other)).toBeLessThan(180_000)
  expect(scripts).toEqual(expect.arrayContaining(['console.js', 'colour-diff.js']))
})
