import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('what follows the setup in a script starts in a shell of its own, as the shell of the setup keeps to the Node that it found before', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>
  }
  const after = Object.values(scripts).flatMap((line) => line.split('node scripts/setup.mjs && ').slice(1))
  expect(after.filter((line) => !line.startsWith('npm run '))).toEqual([])
  expect(after).not.toEqual([])
})
