import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('what follows the setup in a script starts in a shell of its own, as the shell of the setup keeps to the Node that it found before', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>
  }
  const after = Object.values(scripts).flatMap((line) => line.split('node scripts/setup.mjs && ').slice(1))
  expect(after.filter((line) => !line.startsWith('npm run '))).toEqual([])
  expect(after).not.toEqual([])
})

test.each([
  ['--help', 0, 'stdout'],
  ['--fast', 2, 'stderr'],
] as const)('the bench says how it is started, before it installs anything: %s', (option, code, stream) => {
  const bench = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url))
  const ended = spawnSync(process.execPath, [bench, option], { encoding: 'utf8' })
  expect([ended.status, ended[stream]]).toEqual([code, expect.stringContaining('--only ROW')])
  expect(ended.stdout + ended.stderr).not.toContain('    at ')
})
