import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rounds } from '../../../../test/support/rounds.ts'
import { land } from './land.ts'
import type { LandingItem } from './item.ts'
import { readTree } from './two-trees.fixture.ts'

/** Swaps a folder for a link that leads outside, and back, as fast as it can; the same with the folder of the landing itself. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync, readdirSync, mkdirSync } = require('node:fs')
const [root, outside] = process.argv.slice(1)
const quietly = (work) => { try { work() } catch {} }
console.log('swaps')
for (;;) {
  quietly(() => renameSync(root + '/d', root + '/other'))
  quietly(() => symlinkSync(outside, root + '/d'))
  quietly(() => unlinkSync(root + '/d'))
  quietly(() => renameSync(root + '/other', root + '/d'))
  for (const name of readdirSync(root).filter((each) => each.startsWith('.handrail-')))
    for (const part of ['', '/new-0', '/before-0']) {
      const at = root + '/' + name + part
      quietly(() => renameSync(at, at + 'x'))
      quietly(() => symlinkSync(outside, at))
      quietly(() => unlinkSync(at))
      quietly(() => renameSync(at + 'x', at))
    }
}`

test('a folder that is swapped for a link while changes land never leads them outside', async () => {
  const above = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwX', above])
    rmSync(above, { recursive: true })
  })
  const [root, outside, from] = [join(above, 'root'), join(above, 'outside'), join(above, 'new')]
  for (const folder of [root, outside, join(root, 'd')]) mkdirSync(folder)
  for (const name of ['a', 'b', 'c', '0', '1', '2']) writeFileSync(join(outside, name), 'outside')
  writeFileSync(from, 'new')
  const before = readTree(outside)
  const child = spawn(process.execPath, ['-e', swapper, root, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const since = 1n << 62n
  const counts = { landed: 0, failed: 0 }
  for (let round = rounds({ usual: 300, long: 3_000 }); round > 0; round--) {
    const isThere = round % 2 === 1
    const items = ['d/a', 'd/b', 'd/c'].map((path): LandingItem => ({
      root,
      path,
      to: isThere ? { kind: 'none' } : { kind: 'file', mode: 0o644, from, keepTimes: false },
      expect: { had: isThere ? 'file' : 'none', unchangedSince: since },
    }))
    await land(items, { owner: undefined, history: undefined, signals: [] }).then(
      () => counts.landed++,
      () => counts.failed++,
    )
  }
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(readTree(outside)).toEqual(before)
  expect(readFileSync(from, 'utf8')).toBe('new')
  // That both happened.
  expect(counts).toEqual({ landed: expect.any(Number) as number, failed: expect.any(Number) as number })
  expect(Math.min(counts.landed, counts.failed)).toBeGreaterThan(0)
})
