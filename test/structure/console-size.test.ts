import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { makeFolder } from '../support/project.ts'

test('the pages of the console are 60 kB of compressed JavaScript at most, so that the inbox opens at once on a phone', async () => {
  const folder = makeFolder()
  await bundleConsole(folder)
  const script = readFileSync(join(folder, 'console.js'))
  expect(script.length).toBeGreaterThan(1_000)
  expect(gzipSync(script).length).toBeLessThan(60_000)
})
