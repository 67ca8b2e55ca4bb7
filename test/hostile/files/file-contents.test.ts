import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atOpenEntrances } from '../../support/sandbox-entrances.ts'

const line = 'a line that grows\n'

atOpenEntrances({ files: { 'growing.txt': line }, configuration: { readRoots: ['/proc'] } }, (at) => {
  // Each says that it has no bytes, and gives many.
  test.runIf(process.platform === 'linux').each(['/proc/kallsyms', '/proc/self/smaps', '/proc/cpuinfo'])(
    'FS-56 what is read of %s is bounded by what is read, not by what it says',
    async (path) => {
      expect(statSync(path).size).toBe(0)
      const { ok, text } = await at().call('code.read_file', { path, max_lines: 5 })
      expect(ok).toBe(true)
      expect(text.split('\n').length).toBeLessThan(20)
      expect(text).toContain('More lines follow')
    },
  )

  test.runIf(process.platform === 'linux')('FS-56 a file that would wait for more is left', async () => {
    const { ok, reason } = await at().call('code.read_file', { path: '/proc/kmsg', max_lines: 5 })
    expect(ok ? 'read' : reason).toMatch(/^(?:read|permission_denied)$/)
  })

  test('FS-57 a file that grows while it is read is read to the bound', async () => {
    const path = join(at().project, 'growing.txt')
    const piece = line.repeat(5_000)
    let growing = true
    const grow = (async () => {
      for (let round = 0; growing && round < 100; round++) {
        appendFileSync(path, piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const { ok, text } = await at().call('code.read_file', { path: 'growing.txt', max_lines: 1_000 })
    const searched = await at().call('code.search', { query: 'grows', path: 'growing.txt', limit: 100 })
    growing = false
    await grow
    expect([ok, searched.ok]).toEqual([true, true])
    for (const shown of [text, searched.text])
      expect(shown.split(line.trim()).length).toBeLessThanOrEqual(1_001)
    writeFileSync(path, line)
  })

  test.each([
    ['all of Windows', 'one\r\ntwo\r\n', 'one\r\nTWO\r\n'],
    ['of Windows without the last', 'one\r\ntwo', 'one\r\nTWO'],
    ['of Unix', 'one\ntwo\n', 'one\nTWO\n'],
    ['mixed', 'zero\none\r\ntwo\r\n', 'zero\none\r\nTWO\r\n'],
  ])('FS-61 line ends that are %s stay what they are', async (_what, before, after) => {
    const { call, project } = at()
    const edits = [{ old: 'one\ntwo', new: 'one\nTWO' }]
    await call('code.write_file', { path: 'ends.txt', content: before, overwrite: true })
    expect(await call('code.edit_file', { path: 'ends.txt', edits })).toMatchObject({ ok: true })
    expect(readFileSync(join(project, 'ends.txt'), 'utf8')).toBe(after)
  })
})
