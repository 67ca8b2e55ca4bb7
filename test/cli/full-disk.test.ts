import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  call,
  expectNoStack,
  handrail,
  makePlace,
  program,
  startProgram,
  type Ended,
  type Place,
} from '../support/command-line.ts'

/** Runs `handrail call` where no file may grow beyond so many blocks of 512 bytes: what a full disk does, and anybody may set it. */
async function callOnFullDisk(place: Place, blocks: number, argv: readonly string[]): Promise<Ended> {
  const line = [process.execPath, program, 'call', ...argv].map((word) => `'${word}'`).join(' ')
  const running = startProgram(place, ['-c', `ulimit -f ${blocks}; exec ${line}`], { command: 'sh' })
  running.child.stdin.end()
  const ended = await running.ended
  expectNoStack(ended)
  return ended
}

test('however full the disk is, the file is the old one or the new one, and the evidence holds afterwards (EVID-1, FILE-6)', async () => {
  const place = makePlace({ 'a.txt': 'old\n' })
  const content = 'new '.repeat(4_000)
  const input = JSON.stringify({ path: 'a.txt', content, overwrite: true })
  const codes = new Set<string>()
  for (const blocks of [0, 16, 64, 72, 100, 140, 4096]) {
    const { code, stderr } = await callOnFullDisk(place, blocks, [
      'code.write_file',
      input,
      '--approve',
      'once',
    ])
    const now = readFileSync(join(place.project, 'a.txt'), 'utf8')
    expect([blocks, readdirSync(place.project)]).toEqual([blocks, ['a.txt']])
    expect([blocks, now === content || now === 'old\n']).toEqual([blocks, true])
    if (code === 0) expect([blocks, now === content, stderr]).toEqual([blocks, true, ''])
    else expect(stderr).toContain('check the disk and its space')
    codes.add(code === 0 ? 'ok' : (/store_unusable|store_failed/.exec(stderr)?.[0] ?? stderr))
    const verified = await handrail(place, ['evidence', 'verify'])
    expect([blocks, verified.code, verified.stdout]).toEqual([
      blocks,
      0,
      expect.stringContaining('The chain holds'),
    ])
  }
  expect(codes).toEqual(new Set(['store_unusable', 'store_failed', 'ok']))
})

test('a file that outgrows the disk stays as it was, and nothing is left beside it (FILE-6)', async () => {
  const old = 'x\n'.repeat(500_000)
  const place = makePlace({ 'a.txt': old })
  await call(place, 'code.list_dir', {})
  const edit = { path: 'a.txt', unified_diff: '@@ -1,2 +1,2 @@\n-x\n+y\n x\n' }
  const argv = ['code.edit_file', JSON.stringify(edit), '--approve', 'once']
  const { code, stdout, stderr } = await callOnFullDisk(place, 1_500, argv)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^TOOL\.FAILED \(no_space\): .*a\.txt/)
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8') === old).toBe(true)
  expect(readdirSync(place.project)).toEqual(['a.txt'])
  expect((await handrail(place, ['evidence', 'verify'])).code).toBe(0)
})
