import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sweepLeftovers } from './sweep-leftovers.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'left-')))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a process had begun when it was killed. */
async function leaveUnfinished(): Promise<string> {
  const fixture = join(import.meta.dirname, 'leave-unfinished.fixture.ts')
  const child = spawn(process.execPath, [fixture, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [path] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  child.kill('SIGKILL')
  await once(child, 'exit')
  return path.trim()
}

test('what a process leaves is cleared away by one that had cleared before, each time', async () => {
  await sweepLeftovers()
  for (let count = 0; count < 2; count++) {
    const path = await leaveUnfinished()
    await Promise.all([sweepLeftovers(), sweepLeftovers()])
    expect(existsSync(path)).toBe(false)
  }
})
