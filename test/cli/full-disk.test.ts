import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call, expectNoStack, handrail, makePlace, program, startProgram } from '../support/command-line.ts'

/** No file may grow beyond so many blocks of 512 bytes: what a full disk does, and anybody may set it. */
function limited(blocks: number, argv: readonly string[]): string[] {
  const line = [process.execPath, program, ...argv].map((word) => `'${word}'`).join(' ')
  return ['-c', `ulimit -f ${blocks}; exec ${line}`]
}

const content = 'new\n'.repeat(4_000)

test('a file that does not fit is not half-written: the old one stays, nothing is left beside it (FILE-6)', async () => {
  const place = makePlace({ 'a.txt': 'old\n' })
  // The store is there already and small; the file of 16,000 bytes does not fit in 8 KiB, its records do not either.
  const input = JSON.stringify({ path: 'a.txt', content, overwrite: true })
  const outcomes: string[] = []
  for (const blocks of [0, 1, 8, 16, 31, 64, 96, 128, 160, 192, 256, 4096]) {
    const argv = ['call', 'code.write_file', input, '--approve', 'once']
    const running = startProgram(place, limited(blocks, argv), { command: 'sh' })
    running.child.stdin.end()
    const { code, stdout, stderr } = await running.ended
    expectNoStack({ stdout, stderr })
    const now = readFileSync(join(place.project, 'a.txt'), 'utf8')
    outcomes.push(
      code === 0
        ? 'ok'
        : (/\b(store_unusable|store_failed|disk_full|[A-Z]+\.[A-Z_]+)\b/.exec(stderr)?.[0] ?? stderr),
    )
    expect(readdirSync(place.project), `${blocks} blocks`).toEqual(['a.txt'])
    expect([blocks, now === 'old\n' || now === content]).toEqual([blocks, true])
    if (code === 0) expect(now).toBe(content)
    if (existsSync(place.store)) {
      const verified = await handrail(place, ['evidence', 'verify'])
      expect([blocks, verified.code, verified.stdout]).toMatchObject([blocks, 0, /holds/])
    }
  }
  console.log(outcomes)
})
